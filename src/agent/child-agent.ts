import type { RunCause } from '../policy/run-context.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { AgentResponse } from './agent-response.ts';
import {
  type CheckedAnswers,
  type PassedChange,
  type PassedOn,
  type Cancellation,
  type UnstartedApproval,
} from './calls/delegation.ts';
import type { MayStand } from './calls/find-grant.ts';
import type { AnswerOptions, RunInput } from './input/parse-input.ts';
import type { RunOptions } from './run/run-options.ts';

/** A child thread, as a delegation uses it. Its messages and answers come only from there. */
export interface ChildThread {
  readonly thread: AgentThread;
  /** Reads what others have appended. */
  update(): Promise<void>;
  /**
   * Runs the sub-agent. `requesters` has everybody for whom the call that sends the message is made; `cause` is the cause of the parent's
   * run; `mayStand` checks standing approvals of the sub-agent.
   */
  run(
    input: RunInput,
    options: RunOptions<unknown>,
    requesters: readonly unknown[],
    cause: RunCause,
    mayStand?: MayStand,
  ): Promise<AgentResponse>;
  /** Rejects, as `agent.respond` does, unless the answer would be accepted. Records nothing; the result does. */
  check(asked: PassedOn): Promise<CheckedAnswers>;
  /** Lists the recorded approvals of the thread, and of those below it, that are not used yet. */
  approvals(): Promise<readonly UnstartedApproval[]>;
  /** Releases these approvals, which a stop holds. */
  release(requestIds: readonly string[], by: AnswerOptions): Promise<void>;
  /** Cancels the calls of these approvals that have not begun. */
  takeBack(requestIds: readonly string[], cancellation: Cancellation): Promise<void>;
  /** Cancels these open requests, and nothing else. */
  cancelRequests(cancelled: CancelledAbove): Promise<void>;
  /** Records a person's change of an open request. Rejects, as the agent's own method does, for a person who may not do it. */
  change(passed: Omit<PassedChange, 'request'>): Promise<void>;
}

/** The requests of a child thread that were cancelled in the thread above, and who did it. */
export interface CancelledAbove {
  reason: string;
  /** The people who cancelled, by request id. */
  cancelledBy: ReadonlyMap<string, AnswerOptions>;
}
