import type { ToolCallOutcome } from '../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import type { ThreadEventOf } from './thread-event.ts';

/**
 * What the tracing channel `holdpoint` of `node:diagnostics_channel` tells. Each message is one operation, the same object from
 * its `start` to its `asyncEnd`. `invoked` is a run of an agent, and all that the run does is within it: `prompted`, the model that is
 * asked; `started`, a tool that runs here; `delivered`, an answer on its way to the tool that asked beside its call. `requested`,
 * `answered`, `closed` and `finished` are appends: `asyncEnd` without an `error` means that it is durable, and with one that it is not
 * known to be. `indeterminate` is news, told once it is durable, and has no `asyncEnd`.
 *
 * What people, models and tools wrote stands in `request`, `response`, `input`, `outcome`, `result` and `error` alone. These are the
 * thread's own, frozen; `result` and `error` are those of whoever did the work, and must be left as they are. `principal` is who
 * answered, as the app says. What a subscriber throws is an uncaught exception of the process, as on every channel of Node; no run is
 * stopped by it.
 *
 * @example
 * tracingChannel('holdpoint').asyncEnd.subscribe((message) => {
 *   if (message.type === 'answered' && !('error' in message)) log(message.threadId, message.decision, message.waitedMs);
 * });
 */
export type TraceMessage =
  | InvokedMessage
  | PromptedMessage
  | RequestedMessage
  | AnsweredMessage
  | ClosedMessage
  | StartedMessage
  | FinishedMessage
  | DeliveredMessage
  | IndeterminateMessage;

/** An agent runs: from the call of `run` or `stream` until the run ends. A repeated or refused run is told, too. */
export interface InvokedMessage extends ModelName, Enterable {
  type: 'invoked';
  threadId: string;
  agentName: string | undefined;
  /** The run, once it has taken the thread; none where there was nothing to run. */
  runId?: string;
  /** At `asyncEnd`, as in the `AgentResponse`. */
  status?: string;
  finishReason?: string | undefined;
  usage?: TokenUsage | undefined;
  /** At `asyncEnd`: the `AgentResponse`, or what the run failed with. */
  result?: unknown;
  error?: unknown;
}

/** The model is asked for a step; once for each attempt. */
export interface PromptedMessage extends ModelName, Enterable {
  type: 'prompted';
  threadId: string;
  /** The step of the thread, from 0. */
  step: number;
  /** At `asyncEnd`: what the provider says of its answer. */
  answer?: ModelAnswer;
  /** At `asyncEnd`: the provider's answer, or what it failed with. */
  result?: unknown;
  error?: unknown;
}

/** A person is asked. */
interface RequestedMessage extends RequestFacts, Traceable {
  type: 'requested';
}

/** A person answered; for good once it is durable. */
export interface AnsweredMessage extends RequestFacts, Traceable {
  type: 'answered';
  decision: 'approved' | 'rejected' | 'answered' | 'dismissed';
  /** From the request to the answer, in milliseconds. */
  waitedMs: number;
  channel?: string | undefined;
  principal?: unknown;
  response: UserInputResponseContent;
  /** The `traceparent` that is stored with the request. */
  follows: string | undefined;
}

/** A request ended without an answer; or what was answered no longer holds, and `wasAnswered`. */
interface ClosedMessage extends RequestFacts {
  type: 'closed';
  cause: ThreadEventOf<'request-closed'>['cause'];
  wasAnswered: boolean;
  /** From the request to its close, in milliseconds. */
  waitedMs: number;
  /** The `traceparent` that is stored with the request, or with its answer. */
  follows: string | undefined;
}

/** A tool runs: `start` comes after the call's start is durable, and the tool's own work is within the operation. */
interface StartedMessage extends CallFacts, Enterable {
  type: 'started';
  /** What the tool is for, where its description is a plain text. */
  description: string | undefined;
  /** The `traceparent` that is stored with the approval. */
  follows: string | undefined;
  /** At `asyncEnd`: what the tool returned, or threw. */
  result?: unknown;
  error?: unknown;
}

/** A call has its one result, wherever it comes from; also one that was denied or refused, and was never started. */
interface FinishedMessage extends CallFacts {
  type: 'finished';
  status: ToolCallOutcome['status'];
  /** Who knows the result when no run does. */
  source?: ThreadEventOf<'call-ended'>['source'];
  channel?: string | undefined;
  principal?: unknown;
  outcome: ToolCallOutcome;
  error?: unknown;
}

/** The tool that asked beside its call is told the answer; with an `error` at `asyncEnd`, it was not. */
interface DeliveredMessage extends RequestFacts, Enterable {
  type: 'delivered';
  /** The `traceparent` that is stored with the answer. */
  follows: string | undefined;
}

/** A call was started, its run is gone, and nobody knows what came of it. */
interface IndeterminateMessage extends CallFacts {
  type: 'indeterminate';
  /** The `traceparent` that is stored with the approval. */
  follows: string | undefined;
}

/** A model, as the AI SDK names it. */
export interface ModelName {
  /** None of a run whose model is given by its id alone. */
  provider: string | undefined;
  modelId: string;
}

/** What a model used, in tokens. */
interface TokenUsage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** What a provider says of its answer. */
export interface ModelAnswer {
  id: string | undefined;
  /** The model that answered. */
  modelId: string | undefined;
  finishReason: string;
  usage: TokenUsage;
}

/** What is told of a request. */
export interface RequestFacts extends Conversation {
  threadId: string;
  requestId: string;
  requestType: UserInputRequest['type'];
  /** The call that it is about, if it is about one. */
  toolCallId?: string | undefined;
  toolName?: string | undefined;
  request: UserInputRequest;
  /** Why the store, or the tool, did not take it; a `revision-conflict` when somebody was faster, and it is decided again. */
  error?: unknown;
}

/** What is told of a call. */
export interface CallFacts extends Conversation {
  threadId: string;
  toolCallId: string;
  toolName: string;
  /** The latest request about it. */
  requestId?: string | undefined;
  /** How often it was started: 0 for a call that never was. */
  attempt: number;
  input: unknown;
}

interface Conversation {
  /** Of a call of `guardTools`: the `threadId` that it was given. The call's log is a thread of its own. */
  conversationId?: string | undefined;
}

interface Enterable {
  /**
   * To be set on `start`, by one subscriber: it is given the beginning of the operation's work, and calls it in a context of its own,
   * at once. The work begins once, whatever this does.
   */
  within?: (begin: () => void) => void;
}

interface Traceable {
  /**
   * To be set on `start`, by one subscriber: the W3C `traceparent` of its span. It is stored with the event, so that what follows can
   * be linked to it, days later and in another process. What is no `traceparent` is left out.
   */
  traceparent?: string | undefined;
}
