import type { LanguageModel } from 'ai';
import type { SettingFailure } from '../../content/check-settings.ts';
import type { ToolCallOutcome } from '../../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import type { ThreadEventOf } from '../thread-event.ts';

/**
 * A message on the tracing channel `holdpoint` of `node:diagnostics_channel`. Each message is one operation, and the same object from its
 * `start` to its `asyncEnd`. `invoked` is a run of an agent, within which are `prompted`, a request to the model; `stepped`, a step of a
 * custom agent; `started`, the execution of a tool; and `delivered`, an answer that is sent to the tool that asked. `requested`, `answered`, `closed` and `finished` are appends:
 * `asyncEnd` without an `error` means that the event is durable; with one, it may not be. `indeterminate` is published once it is durable,
 * and has no `asyncEnd`; nor has `setting-failed`, a fault of a setting of the app.
 *
 * Only `request`, `response`, `input`, `outcome`, `result` and `error` contain what people, models and tools wrote. They belong to the
 * thread and are frozen, except `result` and `error`, which are the objects that the work returned or threw: do not change them.
 * `principal` is the person who answered, or who caused the run, as authenticated by the app. An exception in a subscriber becomes an uncaught exception of the
 * process, as on every channel of Node, and does not stop the run.
 *
 * @example
 * tracingChannel('holdpoint').asyncEnd.subscribe((message) => {
 *   if (message.type === 'answered' && !('error' in message)) log(message.threadId, message.decision, message.waitedMs);
 * });
 */
export type TraceMessage =
  | InvokedMessage
  | PromptedMessage
  | SteppedMessage
  | RequestedMessage
  | AnsweredMessage
  | ClosedMessage
  | StartedMessage
  | FinishedMessage
  | DeliveredMessage
  | IndeterminateMessage
  | SettingFailedMessage;

/** A run of an agent, from the call of `run` or `stream` to its end, including one that is refused or has nothing to do. */
export interface InvokedMessage extends Partial<ModelName>, Enterable {
  /** What the message is about. */
  type: 'invoked';
  /** The thread that it is about. */
  threadId: string;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** The id of the run in the log; absent until the run holds the thread. */
  runId?: string;
  /** Who caused the run, and through which channel; absent until the run holds the thread, and in a worker. */
  principal?: unknown;
  /** The channel that the person used, if that is known. */
  channel?: string | undefined;
  /** At `asyncEnd`, as in the `AgentResponse`. */
  status?: string;
  /** The finish reason of the run's last step. */
  finishReason?: string | undefined;
  /** Token usage, summed over the run's steps. */
  usage?: TokenUsage | undefined;
  /** At `asyncEnd`: the `AgentResponse`, or the error of the run. */
  result?: unknown;
  /** What it failed with, if it did. */
  error?: unknown;
}

/** One request to the model; a retry is another message. */
export interface PromptedMessage extends ModelName, Enterable {
  /** What the message is about. */
  type: 'prompted';
  /** The thread that it is about. */
  threadId: string;
  /** The number of the step in the thread, from 0. */
  step: number;
  /** At `asyncEnd`: what the provider reports with its response. */
  answer?: ModelAnswer;
  /** At `asyncEnd`: the provider's response, or the error of the request. */
  result?: unknown;
  /** What it failed with, if it did. */
  error?: unknown;
}

/** One step of a custom agent: a call of its function. A repeated step is another message. */
export interface SteppedMessage extends Enterable {
  /** What the message is about. */
  type: 'stepped';
  /** The thread that it is about. */
  threadId: string;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** The number of the step in the thread, from 0. */
  step: number;
  /** At `asyncEnd`: what the function returned, or the error of the step. */
  result?: unknown;
  /** What it failed with, if it did. */
  error?: unknown;
}

/** A request to a person was opened. */
interface RequestedMessage extends RequestFacts, Traceable {
  /** What the message is about. */
  type: 'requested';
}

/** A person answered. The answer counts once it is durable. */
export interface AnsweredMessage extends RequestFacts, Traceable {
  /** What the message is about. */
  type: 'answered';
  /** What the answer says. */
  decision: 'approved' | 'rejected' | 'answered' | 'dismissed';
  /** From the request to the answer, in milliseconds. */
  waitedMs: number;
  /** The channel that the person used, if that is known. */
  channel?: string | undefined;
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The answer. */
  response: UserInputResponseContent;
  /** The `traceparent` that is stored with the request. */
  follows: string | undefined;
}

/** A request was closed without an answer, or, with `wasAnswered`, its answer no longer counts. */
interface ClosedMessage extends RequestFacts {
  /** What the message is about. */
  type: 'closed';
  /** Why the request was closed. */
  cause: ThreadEventOf<'request-closed'>['cause'];
  /** Whether it had been answered before. */
  wasAnswered: boolean;
  /** From the request to its close, in milliseconds. */
  waitedMs: number;
  /** Who ended it, where somebody did. */
  channel?: string | undefined;
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The `traceparent` that is stored with the request, or with its answer. */
  follows: string | undefined;
}

/** The execution of a tool. `start` is published once the start of the call is durable. */
interface StartedMessage extends CallFacts, Enterable {
  /** What the message is about. */
  type: 'started';
  /** The tool's description; `undefined` if it is a function. */
  description: string | undefined;
  /** The `traceparent` that is stored with the approval. */
  follows: string | undefined;
  /** At `asyncEnd`: what the tool returned or threw. */
  result?: unknown;
  /** What it failed with, if it did. */
  error?: unknown;
}

/** A call ended, wherever its outcome came from, including a call that was denied and never started. */
interface FinishedMessage extends CallFacts {
  /** What the message is about. */
  type: 'finished';
  /** How it ended. */
  status: ToolCallOutcome['status'];
  /** Where the outcome came from, if not from the run that started the call. */
  source?: ThreadEventOf<'call-ended'>['source'];
  /** The channel that the person used, if that is known. */
  channel?: string | undefined;
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The outcome of the call. */
  outcome: ToolCallOutcome;
  /** What it failed with, if it did. */
  error?: unknown;
}

/** An answer is sent to the tool that asked during its call. With an `error` at `asyncEnd`, the tool did not receive it. */
interface DeliveredMessage extends RequestFacts, Enterable {
  /** What the message is about. */
  type: 'delivered';
  /** The `traceparent` that is stored with the answer. */
  follows: string | undefined;
}

/** A call was started, its run has ended or died, and its outcome is unknown. */
interface IndeterminateMessage extends CallFacts {
  /** What the message is about. */
  type: 'indeterminate';
  /** The `traceparent` that is stored with the approval. */
  follows: string | undefined;
}

/** A mistake in a setting of the app: see `SettingFailure`. It is published immediately, as it is not in the log. */
interface SettingFailedMessage extends Conversation {
  /** What the message is about. */
  type: 'setting-failed';
  /** The thread that it is about. */
  threadId?: string | undefined;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** Such as `toolApproval.pay`. */
  setting: string;
  /** What kind of mistake it is. */
  kind: SettingFailure['kind'];
  /** What is wrong, as a sentence. */
  problem: string;
  /** The model's id of the call. */
  toolCallId?: string | undefined;
  /** The name of the tool. */
  toolName?: string | undefined;
  /** The call's input. */
  input?: unknown;
  /** What the setting threw. */
  error?: unknown;
}

/** The model, as the AI SDK names it. */
export interface ModelName {
  /** `undefined` for a run whose model was passed as an id. */
  provider: string | undefined;
  /** The id of the model. */
  modelId: string;
}

/** The name of a model as the app configured it. */
export function readModelName(model: LanguageModel): ModelName {
  if (typeof model === 'string') return { provider: undefined, modelId: model };
  const { provider, modelId } = model;
  return { provider, modelId };
}

/** The tokens that were used. */
interface TokenUsage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** What a provider reports with its response. */
export interface ModelAnswer {
  id: string | undefined;
  /** The model that responded, which may be a version of the requested one. */
  modelId: string | undefined;
  finishReason: string;
  usage: TokenUsage;
}

/** The fields of every trace message about a request. */
export interface RequestFacts extends Conversation {
  /** The thread that it is about. */
  threadId: string;
  /** The id of the request. */
  requestId: string;
  /** Whether it is an approval or a question. */
  requestType: UserInputRequest['type'];
  /** The call that it is about, if any. */
  toolCallId?: string | undefined;
  /** The name of the tool. */
  toolName?: string | undefined;
  /** The request. */
  request: UserInputRequest;
  /** Why the store or the tool did not accept it. A `revision-conflict` means a concurrent append, after which it is retried. */
  error?: unknown;
}

/** The fields of every trace message about a call. */
export interface CallFacts extends Conversation {
  /** The thread that it is about. */
  threadId: string;
  /** The model's id of the call. */
  toolCallId: string;
  /** The name of the tool. */
  toolName: string;
  /** The id of the latest request about it. */
  requestId?: string | undefined;
  /** How many times it was started; 0 for a call that was never started. */
  attempt: number;
  /** The input of the call. */
  input: unknown;
}

interface Conversation {
  /** For a call of `guardTools`, the `threadId` that it was given. `threadId` is then the thread that records the call. */
  conversationId?: string | undefined;
}

interface Enterable {
  /**
   * One subscriber may set this on `start`, to run the work in an async context of its choice. It is called with a function that begins
   * the work, and should call it synchronously. The work begins exactly once, whatever this function does.
   */
  within?: (begin: () => void) => void;
}

interface Traceable {
  /**
   * One subscriber may set this on `start`, to the W3C `traceparent` of its span. It is stored with the event, so that later spans can
   * link to it, even days later and in another process. An invalid value is ignored.
   */
  traceparent?: string | undefined;
}
