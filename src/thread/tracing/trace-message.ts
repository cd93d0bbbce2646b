import type { ToolCallOutcome } from '../../content/tool-call.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import type { ThreadEventOf } from '../thread-event.ts';

/**
 * A message on the tracing channel `holdpoint` of `node:diagnostics_channel`. Each is one operation, the same object from its `start` to
 * its `asyncEnd`. `invoked` is a run of an agent, and contains everything the run does: `prompted`, a request to the model; `started`, a
 * tool that runs here; `delivered`, an answer on its way to the tool that asked. `requested`, `answered`, `closed` and `finished` are
 * appends: `asyncEnd` without an `error` means that the event is durable, and with one that it may not be. `indeterminate` is published
 * once it is durable, and has no `asyncEnd`.
 *
 * What people, models and tools wrote is in `request`, `response`, `input`, `outcome`, `result` and `error` alone. These are the
 * thread's own, frozen; `result` and `error` are the very objects that the work returned or threw: do not change them. `principal` is
 * who answered, as the app says. An exception in a subscriber becomes an uncaught exception of the process, as on every channel of Node;
 * it does not stop the run.
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

/** A run of an agent, from the call of `run` or `stream` to its end; also one that is refused, or has nothing to do. */
export interface InvokedMessage extends ModelName, Enterable {
  type: 'invoked';
  threadId: string;
  agentName: string | undefined;
  /** The id of the run in the log; absent until the run has taken the thread. */
  runId?: string;
  /** At `asyncEnd`, as in the `AgentResponse`. */
  status?: string;
  finishReason?: string | undefined;
  usage?: TokenUsage | undefined;
  /** At `asyncEnd`: the `AgentResponse`, or what the run failed with. */
  result?: unknown;
  error?: unknown;
}

/** One request to the model; a retry is another. */
export interface PromptedMessage extends ModelName, Enterable {
  type: 'prompted';
  threadId: string;
  /** The model step of the thread, from 0. */
  step: number;
  /** At `asyncEnd`: what the provider reports with its answer. */
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

/** A request that ended without an answer, or, with `wasAnswered`, whose answer no longer holds. */
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
  /** The tool's description, if it is a string and not a function. */
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
  /** Absent for a run whose model was given as an id. */
  provider: string | undefined;
  modelId: string;
}

/** The tokens that were used. */
interface TokenUsage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

/** What a provider reports with its answer. */
export interface ModelAnswer {
  id: string | undefined;
  /** The model that answered, which may be a version of the one that was asked for. */
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
  /** For a call of `guardTools`: the `threadId` it was given. `threadId` here is the thread that records the call. */
  conversationId?: string | undefined;
}

interface Enterable {
  /**
   * To be set on `start`, by one subscriber, to run the work in an async context of its choice: it is called with a function that
   * begins the work, and should call it at once. The work begins exactly once, whatever this does.
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
