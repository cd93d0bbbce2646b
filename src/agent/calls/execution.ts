import type { ToolCallOutcome } from '../../content/tool-call.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';

/** The result of executing a call: its outcome, or that it continues elsewhere. */
export type Execution =
  | { type: 'ended'; outcome: ToolCallOutcome; requests?: Reporting }
  | { type: 'deferred'; expiresAfterMs?: number }
  /** Its outcome is unknown: it ignored its time limit, or its agent could not be reached. */
  | { type: 'lost'; error?: string }
  /** An agent works on it, and waits: `events` records that. */
  | { type: 'delegated'; events: Reporting };

/** Makes the events to record about a delegated call, from the newest state of its thread. */
export type Reporting = (proposal: Proposal, at: number) => ThreadEvent[];
