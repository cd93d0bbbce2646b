import type { UserInputResponseContent } from '../content/user-input.ts';
import type { RunCause } from '../policy/run-context.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ParentCall } from '../thread/events.ts';
import type { AgentResponse } from './agent-response.ts';
import type { Agent } from './agent.ts';
import {
  type CheckedAnswers,
  type PassedOn,
  type Reassignment,
  type Undoing,
  type UnstartedApproval,
  type Withdrawal,
} from './calls/delegation.ts';
import type { MayStand } from './calls/find-grant.ts';
import type { ToolDefinitions } from './calls/tool-definitions.ts';
import type { AnswerOptions, RunInput } from './input/parse-input.ts';
import type { RunOptions } from './run/run-options.ts';

/** A child thread, as a delegation uses it. Its messages and answers come only from there. */
export interface ChildThread {
  readonly thread: AgentThread;
  /** Reads what others have appended. */
  update(): Promise<void>;
  /**
   * `requesters` is everybody for whom the call is made that sends the message; `cause` is who caused the parent's run; `mayStand` is asked
   * about standing approvals of the sub-agent.
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
  /** Records an answer that was checked; `mayAnswer` is not called again. */
  respond(answer: UserInputResponseContent, by: AnswerOptions): Promise<void>;
  /** The recorded approvals of the thread, and of those below it, that have let nothing start yet. */
  approvals(): Promise<readonly UnstartedApproval[]>;
  /** Releases these approvals, which a stop holds. */
  release(requestIds: readonly string[], by: AnswerOptions): Promise<void>;
  /** Cancels the calls of these approvals that have not begun. */
  takeBack(requestIds: readonly string[], undoing: Undoing): Promise<void>;
  /** Cancels these open requests, and nothing else. */
  cancelRequests(cancelled: CancelledAbove): Promise<void>;
  /** Records that somebody else is to answer. Rejects, as `agent.reassign` does, for a person who may not answer. */
  reassign(reassignment: Reassignment): Promise<void>;
  /** Records that a person takes back their approval. Rejects, as `agent.withdraw` does, if there is none. */
  withdraw(withdrawal: Withdrawal): Promise<void>;
}

/** The key of the method with which an agent opens a child thread. A registered symbol, so that it works across two copies of the package. */
export const openChild: unique symbol = Symbol.for('holdpoint.open-child');

/** The key of the method with which the agent of a parent thread cancels an agent's work, after it has asked who may. Registered, too. */
export const cancelForParent: unique symbol = Symbol.for('holdpoint.cancel-for-parent');

/** That an agent's work is cancelled with the call that it was for. */
export interface ParentCancellation {
  reason: string;
  /** The person who does it. */
  by: AnswerOptions;
}

/** The requests of a child thread that were cancelled in the thread above, and who did it. */
export interface CancelledAbove {
  reason: string;
  /** By request id. */
  cancelledBy: ReadonlyMap<string, AnswerOptions>;
}

/** The key of the method that gives an agent's tools to the agents above it. A registered symbol, so that it works across two copies of the package. */
export const toolsBelow: unique symbol = Symbol.for('holdpoint.tools-below');

/** An agent that can be a sub-agent. */
export interface ParentableAgent {
  [openChild](threadId: string, parent: ParentCall): Promise<ChildThread>;
  [cancelForParent](thread: AgentThread, cancellation: ParentCancellation): Promise<void>;
  /** The agent's tools. */
  readonly [toolsBelow]: () => ToolDefinitions | Promise<ToolDefinitions>;
}

/** The agent, if it was made by this package. Throws a `TypeError` for any other. */
export function requireChildAgent(agent: Agent<never>): ParentableAgent & Agent<never> {
  if (!isParentable(agent)) {
    throw new TypeError('agentTool needs an agent made with createAgent or createCustomAgent.');
  }
  return agent;
}

function isParentable(agent: Agent<never>): agent is ParentableAgent & Agent<never> {
  return openChild in agent;
}
