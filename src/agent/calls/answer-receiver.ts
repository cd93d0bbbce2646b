import type { Tool, ToolSet } from 'ai';
import { callGuarded } from '../../content/app-errors.ts';
import { copyPlain } from '../../json/json-value.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { findAnyCall, type ThreadState } from '../../thread/thread-state.ts';
import { isSamePlace } from '../../thread/thread-head.ts';

/** A person's answer, for the tool that asked during its call. */
export interface AnswerToTool {
  /** The answer, checked against `request`. It may be a dismissal if the question allows one. */
  response: QuestionResponseContent;
  /** The question. */
  request: QuestionRequestContent;
  /** The value that was passed to `requestAnswer` so that the answer can be sent. */
  replyTo: unknown;
  /** The call during which the question was asked. */
  call: ToolCall;
}

/** The outcome of a call whose tool can't get the answer. */
export interface CallFailure {
  /** The call has failed. */
  status: 'failed';
  /** The error that the model gets. */
  error: string;
}

/** Options for sending an answer. */
export interface SendOptions {
  /** Aborts when this run must no longer send the answer. */
  signal: AbortSignal;
  /**
   * Reads the log, and aborts `signal` if the tool no longer needs the answer because it has asked something else or its call has ended.
   * Call it before each retry, so that the answer can't be mistaken for that of another question. Rejects when the store is unavailable.
   */
  refresh: () => Promise<void>;
}

/** Delivers answers to a tool that asks questions during its calls. */
export interface AnswerReceiver {
  /**
   * True if a call continues when the process that started it has died, as one on a server does. `false`: the open question of such a call
   * is closed, and the call's outcome is unknown. Default `true`.
   */
  outlivesProcess?: boolean;
  /**
   * Sends an answer to the place where the call is executed. Resolves when it has arrived, or with an outcome that ends the call instead.
   * It must do its own retries: when it rejects, the answer is given up. After a crash it is called again with the same answer, which may
   * arrive twice. When `signal` aborts it must return; the next run sends the answer.
   */
  deliver: (answer: AnswerToTool, options: SendOptions) => Promise<CallFailure | undefined>;
  /**
   * Called when a call that continued elsewhere has ended here without its result. It is not awaited, may never be called, and its errors
   * are ignored.
   */
  forget?: (call: DroppedCall) => unknown;
}

/** A call whose result is no longer needed. */
export interface DroppedCall extends ToolCall {
  /** The thread of the call. */
  threadId: string;
  /** The key that `execute` was called with. */
  idempotencyKey: string | undefined;
}

/* The key of a tool's answer receiver. Registered, so that two copies of the package understand each other. */
const answering: unique symbol = Symbol.for('holdpoint.answering');

/**
 * Adds to a tool a receiver of the answers to the questions that are asked during its calls, with `agent.requestAnswer`.
 *
 * @example
 * const deploy = receiveAnswers(
 *   tool({ description: 'Deploys a branch.', inputSchema, execute: startJob }),
 *   { deliver: async ({ response, replyTo }, { signal }) => sendToJob(replyTo, response, signal) },
 * );
 */
export function receiveAnswers<TOOL extends Tool>(tool: TOOL, receiver: AnswerReceiver): TOOL {
  return Object.assign({ ...tool }, { [answering]: receiver });
}

/** A tool's answer receiver; `undefined` for a tool that never asks during a call. */
export function findAnswerReceiver(tool: Tool): AnswerReceiver | undefined {
  const value: unknown = Reflect.get(tool, answering);
  return isAnswerReceiver(value) ? value : undefined;
}

function isAnswerReceiver(value: unknown): value is AnswerReceiver {
  return typeof value === 'object' && value !== null && 'deliver' in value;
}

/** Checks whether any tool is notified of its dropped calls; most agents have no such tool. */
export function hasReceivers(tools: ToolSet): boolean {
  return Object.values(tools).some((tool) => findAnswerReceiver(tool)?.forget !== undefined);
}

/** Notifies the tools of calls that continued elsewhere and have ended here without a result: cancelled, expired, given up. */
export function notifyDropped(
  tools: ToolSet,
  state: Readonly<ThreadState>,
  committed: readonly ThreadEvent[],
): void {
  for (const event of committed) {
    if (event.type !== 'call-ended' || event.source !== undefined) continue;
    const call = findAnyCall(state, event);
    const forget = call && findForget(tools, call.toolName);
    if (call === undefined || forget === undefined || !continuesElsewhere(state, call)) continue;
    const { toolCallId, toolName, input, idempotencyKey } = call;
    const forgotten = { threadId: state.threadId, toolCallId, toolName, idempotencyKey };
    void callGuarded(forget, { ...forgotten, input: copyPlain(input) });
  }
}

function findForget(tools: ToolSet, toolName: string) {
  const tool = new Map(Object.entries(tools)).get(toolName);
  return tool && findAnswerReceiver(tool)?.forget;
}

/* Other calls were ended by their own tools. */
function continuesElsewhere({ events }: Readonly<ThreadState>, call: ToolCallRecord): boolean {
  const index = events.findLastIndex(
    (event) => event.type === 'call-deferred' && isSamePlace(event, call),
  );
  return index !== -1;
}
