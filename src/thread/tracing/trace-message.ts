import type { SettingFailure } from '../../content/check-settings.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { ThreadEvent } from '../thread-event.ts';

/**
 * A message on the tracing channel `holdpoint` of `node:diagnostics_channel`. Each message is one operation, and the same object from its
 * `start` to its `asyncEnd`. `appended` is an event that is appended to a thread. The others are work that may contain more work: `invoked`
 * is a run of an agent, within which are `prompted`, a request to the model; `stepped`, a step of a custom agent; `started`, the execution
 * of a tool; and `delivered`, an answer that is sent to the tool that asked. `setting-failed`, a fault of a setting of the app, has no
 * `asyncEnd`.
 *
 * Only `event`, `request`, `input`, `result` and `error` contain what people, models and tools wrote. They belong to the thread and are
 * frozen, except `result` and `error`, which are the objects that the work returned or threw: do not change them. `principal` is the person
 * who caused a run, as authenticated by the app. An exception in a subscriber becomes an uncaught exception of the process, as on every
 * channel of Node, and does not stop the run.
 *
 * @example
 * tracingChannel('holdpoint').asyncEnd.subscribe((message) => {
 *   if (message.type === 'appended' && !('error' in message)) log(message.threadId, message.event.type, message.toolName);
 * });
 */
export type TraceMessage =
  | AppendedMessage
  | InvokedMessage
  | PromptedMessage
  | SteppedMessage
  | StartedMessage
  | DeliveredMessage
  | SettingFailedMessage;

/**
 * An event that is appended to a thread, once for each event, in the process that appends it. `start` is published before the append is
 * tried. `asyncEnd` without an `error` means that the event is durable; with one, it may not be.
 */
export interface AppendedMessage extends TraceSubject {
  /** The kind of the message. */
  type: 'appended';
  /** The event. The log also has the `traceparent` of this message. */
  event: ThreadEvent;
  /** True if its request had an answer before, which no longer counts after `request-closed`. */
  wasAnswered: boolean;
  /**
   * One subscriber may set this on `start`, to the W3C `traceparent` of its span. It is stored with a `request-opened` or a
   * `request-answered`, so that later spans can link to it, even days later and in another process. An invalid value is ignored.
   */
  traceparent?: string | undefined;
  /** The error of the store. A `revision-conflict` means a concurrent append, after which it is retried. */
  error?: unknown;
}

/** A run of an agent, from the call of `run` or `stream` to its end, including one that is refused or has nothing to do. */
export interface InvokedMessage extends Partial<ModelName>, Enterable {
  /** The kind of the message. */
  type: 'invoked';
  /** The thread that it is about. */
  threadId: string;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** The id of the run in the log; absent until the run holds the thread. */
  runId?: string;
  /** The person who caused the run, and the channel; absent until the run holds the thread, and in a worker. */
  principal?: unknown;
  /** The channel that the person used, if that is known. */
  channel?: string | undefined;
  /** The status at `asyncEnd`, as in the `AgentResponse`. */
  status?: string;
  /** The finish reason of the run's last step. */
  finishReason?: string | undefined;
  /** Token usage, summed over the run's steps. */
  usage?: ModelAnswer['usage'] | undefined;
  /** The `AgentResponse`, or the error of the run, at `asyncEnd`. */
  result?: unknown;
  /** The error, if it failed. */
  error?: unknown;
}

/** One request to the model; a retry is another message. */
export interface PromptedMessage extends ModelName, Enterable {
  /** The kind of the message. */
  type: 'prompted';
  /** The thread that it is about. */
  threadId: string;
  /** The number of the step in the thread, from 0. */
  step: number;
  /** The provider's report on its response, at `asyncEnd`. */
  answer?: ModelAnswer;
  /** The provider's response, or the error of the request, at `asyncEnd`. */
  result?: unknown;
  /** The error, if it failed. */
  error?: unknown;
}

/** One step of a custom agent: a call of its function. A repeated step is another message. */
export interface SteppedMessage extends Enterable {
  /** The kind of the message. */
  type: 'stepped';
  /** The thread that it is about. */
  threadId: string;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** The number of the step in the thread, from 0. */
  step: number;
  /** The result of the function, or the error of the step, at `asyncEnd`. */
  result?: unknown;
  /** The error, if it failed. */
  error?: unknown;
}

/** The execution of a tool. `start` is published once the start of the call is durable. */
interface StartedMessage extends TraceSubject, Enterable {
  /** The kind of the message. */
  type: 'started';
  /** The tool's description; `undefined` if it is a function. */
  description: string | undefined;
  /** The value that the tool returned or threw, at `asyncEnd`. */
  result?: unknown;
  /** The error, if it failed. */
  error?: unknown;
}

/** An answer is sent to the tool that asked during its call. With an `error` at `asyncEnd`, the tool did not receive it. */
interface DeliveredMessage extends TraceSubject, Enterable {
  /** The kind of the message. */
  type: 'delivered';
  /** The error of the tool. */
  error?: unknown;
}

/** A mistake in a setting of the app: see `SettingFailure`. It is published immediately, as it is not in the log. */
interface SettingFailedMessage extends Pick<TraceSubject, 'conversationId'> {
  /** The kind of the message. */
  type: 'setting-failed';
  /** The thread that it is about. */
  threadId?: string | undefined;
  /** The name of the agent; `undefined` for an agent without one. */
  agentName: string | undefined;
  /** Such as `toolApproval.pay`. */
  setting: string;
  /** The kind of mistake. */
  kind: SettingFailure['kind'];
  /** The problem, as a sentence. */
  problem: string;
  /** The model's id of the call. */
  toolCallId?: string | undefined;
  /** The name of the tool. */
  toolName?: string | undefined;
  /** The call's input. */
  input?: unknown;
  /** The value that the setting threw. */
  error?: unknown;
}

/** The model, as the AI SDK names it. */
export interface ModelName {
  /** `undefined` for a run whose model was passed as an id. */
  provider: string | undefined;
  /** The id of the model. */
  modelId: string;
}

/** The facts that a provider reports with its response. */
export interface ModelAnswer {
  /** The id of the response. */
  id: string | undefined;
  /** The model that responded, which may be a version of the requested one. */
  modelId: string | undefined;
  /** Why the model ended its response. */
  finishReason: string;
  /** The tokens that were used. */
  usage: { inputTokens: number | undefined; outputTokens: number | undefined };
}

/** The call and the request that a message is about. */
export interface TraceSubject {
  /** The thread that it is about. */
  threadId: string;
  /** The model's id of the call. */
  toolCallId?: string | undefined;
  /** The name of the tool. */
  toolName?: string | undefined;
  /** The number of times that the call was started; absent for a message about a request. */
  attempt?: number | undefined;
  /** The input of the call. */
  input?: unknown;
  /** The id of the request, or of the latest one about the call. */
  requestId?: string | undefined;
  /** The request; absent for a message about a call. */
  request?: UserInputRequest | undefined;
  /** The `traceparent` that is stored with the request's answer, or else with the request. */
  follows?: string | undefined;
  /** The `threadId` that a call of `guardTools` was given. `threadId` is then the thread that records the call. */
  conversationId?: string | undefined;
}

interface Enterable {
  /**
   * One subscriber may set this on `start`, to run the work in an async context of its choice. It is called with a function that begins the
   * work, and should call it synchronously. The work begins exactly once in any case.
   */
  within?: (begin: () => void) => void;
}
