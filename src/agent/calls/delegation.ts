import type { Tool, ToolSet } from 'ai';
import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import type {
  AskedAnswer,
  UserInputRequest,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import type { CallFailure } from './answer-receiver.ts';
import type { Execution } from './execute-call.ts';

/** A call that is delegated to another agent. */
export interface DelegatedCall extends ToolCall {
  /** The thread of the call. */
  threadId: string;
  /** The same in every process, attempt, and copy of the thread: the other agent's thread is named for it. */
  idempotencyKey: string;
}

/** The circumstances in which an agent works on a delegated call. */
export interface DelegatedWork {
  /** The thread of the call. */
  threadId: string;
  /** The names of the agents above, outermost first, and last the one that made the call; `null` for one without a name. */
  agents: readonly (string | null)[];
  /** Who the agents work for. */
  principal: unknown;
  runtimeContext: unknown;
  /** Aborts when the work must end. */
  signal: AbortSignal;
  /** Once the signal has aborted: whether the work is resumed later; otherwise it is given up. */
  isResumedLater: () => boolean;
}

/** An answer for the agent that asked. */
export interface PassedAnswer {
  request: UserInputRequest;
  response: UserInputResponseContent;
  replyTo?: unknown;
  principal?: unknown;
  channel?: string | undefined;
}

/** How a tool's calls are delegated to another agent. */
export interface Delegation {
  /** The name of the other agent. */
  agent: string;
  /**
   * Works on a call that is recorded as started, until it has ended or waits. Called for the same call again to resume it: when an answer
   * was sent, at its `resumeAt`, and after a crash. Never rejects.
   */
  work(tool: Tool, call: ToolCallRecord, work: DelegatedWork): Promise<Execution>;
  /**
   * Sends an answer to the agent that asked. May be called again with the same answer. Resolves with a failure that ends the call if the
   * answer can't count for what the agent asks; rejects if the agent no longer asks.
   */
  send(
    call: DelegatedCall,
    answer: PassedAnswer,
    signal: AbortSignal,
  ): Promise<CallFailure | undefined>;
  /** Gives up the work on a call, before that is recorded in the call's own thread. May be called again. */
  cancel(call: DelegatedCall, reason: string): Promise<void>;
  /** Rejects, as `agent.respond` does, unless the other agent accepts the answer to its request. Records nothing. */
  check(call: DelegatedCall, asked: AskedAnswer): Promise<void>;
}

/** The key of a tool's delegation. Registered, so that two copies of the package understand each other. */
export const delegating: unique symbol = Symbol.for('holdpoint.delegating');

/** How a tool's calls are delegated; `undefined` for a tool that is executed. */
export function delegationOf(tool: Tool): Delegation | undefined {
  const value: unknown = Reflect.get(tool, delegating);
  return isDelegation(value) ? value : undefined;
}

function isDelegation(value: unknown): value is Delegation {
  return typeof value === 'object' && value !== null && 'work' in value;
}

/** How a call is delegated, by the tool of its name. */
export function delegationFor(
  tools: ToolSet,
  { toolName }: Pick<ToolCall, 'toolName'>,
): Delegation | undefined {
  const tool = new Map(Object.entries(tools)).get(toolName);
  return tool && delegationOf(tool);
}

/** A call, as it is passed to its delegation. */
export function delegatedCall(
  threadId: string,
  { toolCallId, toolName, input, idempotencyKey = toolCallId }: ToolCallRecord,
): DelegatedCall {
  return { threadId, toolCallId, toolName, input: structuredClone(input), idempotencyKey };
}
