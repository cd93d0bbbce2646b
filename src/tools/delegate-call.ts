import type { Tool } from 'ai';
import { type Execution, makeOutcome, type Reporting } from '../agent/calls.ts';
import type { CallPlace, ToolCallRecord, WorkingAgent } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import { isEnded } from './mirror-requests.ts';
import { callAt, isSamePlace, type ThreadHead } from '../thread/thread-head.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadState } from '../thread/thread-state.ts';

/* How often a sub-agent is checked that another process runs, or whose request has ended in the parent thread only, in milliseconds. */
export const busyMs = 5_000;

/** The execution of a delegated call: how it ended, or what it waits for. */
export async function toExecution(
  { call, tool, name }: { call: ToolCallRecord; tool: Tool; name: string },
  result: DelegatedResult,
  requests: Reporting,
): Promise<Execution> {
  if (result.status === 'failed')
    return { type: 'ended', outcome: { status: 'failed', error: result.error }, requests };
  if (result.status === 'succeeded')
    return { type: 'ended', outcome: await makeOutcome(tool, call, result.output), requests };
  return {
    type: 'delegated',
    events: (proposal, at) => [
      ...requests(proposal, at),
      waitEvent(proposal, call, { name, ...result }, at),
    ],
  };
}

/** The state of the work on a delegated call. */
export type DelegatedResult =
  | { status: 'succeeded'; output: unknown }
  | { status: 'failed'; error: string }
  | ({ status: 'waiting' } & DelegatedWait);

/** What a delegated call waits for: for people, or for `resumeAfterMs`, 0 to be resumed immediately. A duration, because clocks may differ. */
interface DelegatedWait {
  threadId: string;
  lostCalls: NonNullable<WorkingAgent['lostCalls']>;
  /** The requests that are open in the sub-agent's thread. */
  asked: readonly UserInputRequest[];
  resumeAfterMs: number | undefined;
}

/** What a thread records about an agent's requests while the agent works on a call. */
export function reportWhileStarted(call: ToolCallRecord, requests: Reporting): Reporting {
  return (proposal, at) =>
    callAt(proposal.head, call)?.status === 'started' ? requests(proposal, at) : [];
}

/** The event of a delegated call that waits: when it is resumed. */
function waitEvent(
  proposal: Proposal,
  call: ToolCallRecord,
  { name, threadId, lostCalls, asked, resumeAfterMs }: DelegatedWait & { name: string },
  at: number,
): ThreadEvent {
  const { head, state } = proposal;
  const place = { step: call.step, index: call.index };
  /* The request ended while the agent stopped to wait: its answer was sent, or it was cancelled. */
  const isNews = asked.some(
    (request) =>
      isEnded(proposal, request) &&
      !isUnsent(head, request) &&
      hasEndedSince(state, place, request),
  );
  const isStale = asked.length > 0 && asked.every((request) => isEnded(proposal, request));
  const after = isNews ? 0 : Math.min(resumeAfterMs ?? Infinity, isStale ? busyMs : Infinity);
  const agent = { name, threadId, ...(lostCalls.length > 0 ? { lostCalls: [...lostCalls] } : {}) };
  return {
    type: 'call-deferred',
    at,
    ...place,
    agent,
    ...(after === Infinity ? {} : { resumeAt: after === 0 ? 0 : at + after }),
    ...(call.expiresAt === undefined ? {} : { expiresAt: call.expiresAt }),
  };
}

/** Whether a request ended after the call was last started: its answer was sent, or it was closed. */
function hasEndedSince(
  { events }: Readonly<ThreadState>,
  place: CallPlace,
  { requestId }: UserInputRequest,
): boolean {
  const started = events.findLastIndex(
    (event) => event.type === 'call-started' && isSamePlace(event, place),
  );
  const ended = events.findLastIndex(
    (event) =>
      (event.type === 'answer-delivered' || event.type === 'request-closed') &&
      event.requestId === requestId,
  );
  return ended > started;
}

function isUnsent({ unsentAnswers }: ThreadHead, { requestId }: UserInputRequest): boolean {
  return unsentAnswers.some(({ request }) => request.requestId === requestId);
}
