import type { CandidateDecision, ReplayedCall } from './replay-thread.ts';
import type { LoggedDecision } from './logged-decision.ts';

/**
 * How a candidate differs from what was recorded about a call. `runs-rejected`, `runs-edited`: it would have run, without asking, what
 * people rejected, or what they changed before it ran. `denies-approved`: it would have denied what people approved. `runs-denied`,
 * `denies-unasked`, `asks-unasked`: it differs from the rules of that time; no person had decided.
 */
export type DisagreementType =
  | 'runs-rejected'
  | 'runs-edited'
  | 'denies-approved'
  | 'runs-denied'
  | 'denies-unasked'
  | 'asks-unasked';

/** A recorded call about which the candidate differs from people, or from the rules of that time. */
export interface Disagreement {
  type: DisagreementType;
  threadId: string;
  step: number;
  index: number;
  toolCallId: string;
  toolName: string;
  /** The input that the model proposed. */
  input: unknown;
  /** The input that ran instead, because a person edited it. */
  editedInput?: unknown;
  /** Who answered, as authenticated by the app, through which channel, and why. */
  principal?: unknown;
  channel?: string;
  reason?: string;
}

const types: readonly [CandidateDecision, LoggedDecision['type'], DisagreementType][] = [
  ['run', 'rejected', 'runs-rejected'],
  ['run', 'edited', 'runs-edited'],
  ['deny', 'approved', 'denies-approved'],
  ['deny', 'edited', 'denies-approved'],
  ['deny', 'granted', 'denies-approved'],
  ['run', 'denied', 'runs-denied'],
  ['deny', 'unasked', 'denies-unasked'],
  ['ask', 'unasked', 'asks-unasked'],
];

/** How the candidate differs about a call; `undefined` if it doesn't. */
export function disagreementOf(call: ReplayedCall): Disagreement | undefined {
  const found = types.find(
    ([decision, logged]) => decision === call.decision && logged === call.logged.type,
  );
  if (found === undefined) return undefined;
  const { threadId, step, index, toolCallId, toolName, input } = call;
  const { principal, channel, reason, editedInput } = call.logged;
  return {
    type: found[2],
    threadId,
    step,
    index,
    toolCallId,
    toolName,
    input,
    ...(editedInput === undefined ? {} : { editedInput }),
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(reason === undefined ? {} : { reason }),
  };
}
