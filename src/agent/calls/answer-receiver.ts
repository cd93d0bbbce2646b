import type { Tool, ToolSet } from 'ai';
import { callGuarded } from '../../content/call-guarded.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isSamePlace, type ThreadState } from '../../thread/thread-state.ts';

/** A person's answer, for the tool that asked beside its call. */
export interface AnswerToTool {
  /** The answer; it was checked against `request`. It may be a dismissal where the question allows one. */
  response: QuestionResponseContent;
  request: QuestionRequestContent;
  /** What `requestAnswer` was given to reach the tool by. */
  replyTo: unknown;
  call: ToolCall;
}

/** What ends a call when its tool is not told the answer. */
export interface CallFailure {
  status: 'failed';
  /** What the model is told. */
  error: string;
}

/** What a tool is told an answer with. */
export interface SendOptions {
  /** Aborts when the answer is not to be brought any more, or not by this run. */
  signal: AbortSignal;
  /**
   * Reads the log on, and aborts `signal` where the tool is owed the answer no more: it asked something else, or its call has ended.
   * For before each further try, as the answer could be taken for that of another question. Rejects when the store is out of reach.
   */
  refresh: () => Promise<void>;
}

/** How a tool that asks beside its calls is told the answers. */
export interface AnswerReceiver {
  /**
   * Brings an answer to whoever does the call, and resolves when they have it, or with what ends the call instead. It tries again
   * by itself; when it rejects, the answer is given up for good. After a crash it is called again with the same answer: what it
   * sends may come twice. When `signal` aborts it must settle; the answer is then brought by the next run.
   */
  deliver: (answer: AnswerToTool, options: SendOptions) => Promise<CallFailure | undefined>;
  /**
   * Hears that a call of the tool that went on elsewhere has ended here without its result. Nobody waits for it, it may never be
   * called, and what it throws is dropped.
   */
  forget?: (call: DroppedCall) => unknown;
}

/** A call whose result is not wanted any more. */
export interface DroppedCall extends ToolCall {
  threadId: string;
  idempotencyKey: string | undefined;
}

/** Where a tool keeps how it is told answers. Registered, so that two copies of the package understand each other. */
export const answering: unique symbol = Symbol.for('holdpoint.answering');

/** How a tool is told answers; `undefined` for one that never asks beside a call. */
export function answerReceiverOf(tool: Tool): AnswerReceiver | undefined {
  const value: unknown = Reflect.get(tool, answering);
  return isAnswerReceiver(value) ? value : undefined;
}

function isAnswerReceiver(value: unknown): value is AnswerReceiver {
  return typeof value === 'object' && value !== null && 'deliver' in value;
}

/** Tells the tools of calls that went on elsewhere and have ended here without them: cancelled, expired, given up. */
export function notifyDropped(
  tools: ToolSet,
  state: Readonly<ThreadState>,
  committed: readonly ThreadEvent[],
): void {
  for (const event of committed) {
    if (event.type !== 'call-ended' || event.source !== undefined) continue;
    const isEnded = (each: ToolCallRecord): boolean => isSamePlace(each, event);
    const call = state.head.calls.find(isEnded) ?? state.pastCalls.findLast(isEnded);
    const forget = call && forgetOf(tools, call.toolName);
    if (call === undefined || forget === undefined || !wentOn(state, call)) continue;
    const { toolCallId, toolName, input, idempotencyKey } = call;
    const forgotten = { threadId: state.threadId, toolCallId, toolName, idempotencyKey };
    void callGuarded(forget, { ...forgotten, input: plainCopy(input) });
  }
}

function forgetOf(tools: ToolSet, toolName: string) {
  const tool = new Map(Object.entries(tools)).get(toolName);
  return tool && answerReceiverOf(tool)?.forget;
}

/* One that did not go on has ended by what its own tool said. */
function wentOn({ events }: Readonly<ThreadState>, call: ToolCallRecord): boolean {
  return events.some((event) => event.type === 'call-deferred' && isSamePlace(event, call));
}
