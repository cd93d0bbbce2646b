import type { ToolSet } from 'ai';
import type { Agent, Question, DeliveredOutcome } from '../../agent.ts';
import { callGuarded } from '../../content/app-errors.ts';
import { checkLimit, refuseUnknown } from '../../content/check-settings.ts';
import { parseJson } from '../../json/json-value.ts';
import { makeChoice } from '../../content/question.ts';
import { awaitedBy, type ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { makeErrorResponse, makeRefusalResponse } from '../../http/error-response.ts';
import { readJsonText } from '../../http/read-json-body.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { SerialWork } from '../../content/waiting.ts';
import { readCapability, type CallbackCall } from './callback-url.ts';
import {
  parseCallback,
  type ResultPart,
  type ToolResultMessage,
  type UserChoiceMessage,
} from './messages.ts';
import { readRemoteServer, type RemoteServer } from './remote-server.ts';
import { parseAllowedUrl } from './url-checks.ts';

/** Options of `createCallbackHandler`. */
interface CallbackHandlerOptions {
  /** The agent whose calls the servers answer. */
  agent: Pick<Agent, 'thread' | 'deliver' | 'requestAnswer'>;
  /** The agent's tools; callbacks are accepted for those that `remoteTool` created. */
  tools: ToolSet;
  /** The maximum length of a body, in bytes. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** The maximum number of questions of one call. Default 20. */
  maximumQuestions?: number;
  /** Called with each discarded callback. The sender gets no reason. */
  onDiscarded?: (discarded: DiscardedCallback) => unknown;
}

/** The reason for which a callback was discarded. */
type DiscardReason =
  /** Its URL was not created for a call of these tools, or with another secret. */
  | 'capability'
  /** The tool's messages must be signed; this one is not, or not by its server. */
  | 'signature'
  /** The body is too long, not JSON, or not a message of the protocol. */
  | 'malformed'
  /** A type of message that is not supported, such as `oauth`. */
  | 'unsupported'
  /** Its `group_id`, `id` or `call_id` is not that of the call whose URL was used. */
  | 'mismatch'
  /** The call has ended or does not exist. */
  | 'ended'
  /** The origin of its `response_url` is not allowed. */
  | 'response-url'
  /** The call has asked too many questions, or too many of its messages are being handled. */
  | 'too-many';

/** A callback that was discarded, for the app's log. */
export interface DiscardedCallback {
  /** The reason. */
  reason: DiscardReason;
  /** The thread and the call whose URL was used. */
  threadId?: string;
  /** The model's id of the call that it names, if there is such a call. */
  toolCallId?: string;
  /** Details for developers. They may quote the sender. */
  detail?: string;
}

const callbackHandlerSettings = {
  agent: true,
  tools: true,
  maximumBodyBytes: true,
  maximumQuestions: true,
  onDiscarded: true,
} satisfies Record<keyof CallbackHandlerOptions, true>;

/** The options of a handler with their defaults, and its queue: the messages about one call are recorded one by one. */
type HandlerState = CallbackHandlerOptions &
  Required<Pick<CallbackHandlerOptions, 'maximumBodyBytes' | 'maximumQuestions'>> & {
    queue: KeyedQueue;
  };

/**
 * Creates the route that remote tools call back: a fetch-style handler for Next, Hono, Bun, Deno and Workers. It records results and
 * questions and does not run the agent: `runWorker` or `agent.run([], thread)` resumes the thread.
 *
 * The route accepts `POST` with a `tool_result` or a `user_choice` at the callback URL of a call. A message that is not about this call, or
 * comes after the call has ended, is discarded: the response is the same empty 200 as for an accepted one, and `onDiscarded` is called.
 * The response is 404 for a URL that no call has, without reading the body; 400, 401 (signatures), 405, 413 and 415 for a server that does
 * not follow the protocol; 500 (the store can't be reached) and 503 (32 messages about the call are being handled) when the
 * message should be sent again.
 *
 * Throws a `TypeError` for an option that it does not have, and for a limit that is not a valid number.
 *
 * @example
 * export const POST = createCallbackHandler({ agent, tools });
 */
export function createCallbackHandler(
  options: CallbackHandlerOptions,
): (request: Request) => Promise<Response> {
  refuseUnknown('createCallbackHandler', options, callbackHandlerSettings);
  const limits = {
    maximumBodyBytes: checkLimit(options.maximumBodyBytes ?? 1_048_576, 'maximumBodyBytes'),
    maximumQuestions: checkLimit(options.maximumQuestions ?? 20, 'maximumQuestions'),
  };
  const state = { ...options, ...limits, queue: new KeyedQueue() };
  return async (request) => {
    try {
      if (request.method !== 'POST') {
        return makeRefusalResponse(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
      }
      return await handle(state, request);
    } catch (error) {
      return makeErrorResponse(new Error('The callback could not be recorded.', { cause: error }));
    }
  };
}

/** A callback to a URL that was created here. */
interface Callback {
  /** The call that the URL was created for. */
  call: CallbackCall;
  server: RemoteServer;
  discard: (reason: DiscardReason, detail?: string) => void;
}

async function handle(state: HandlerState, request: Request): Promise<Response> {
  const { tools, queue, onDiscarded } = state;
  const capability = readCapability(request.url);
  const tool = new Map(Object.entries(tools)).get(capability?.claim.toolName ?? '');
  const server = tool && readRemoteServer(tool);
  if (capability === undefined || server === undefined || !(await server.keys.verify(capability))) {
    void callGuarded(onDiscarded, { reason: 'capability' });
    return makeRefusalResponse(404, 'not-found', 'Not found.');
  }
  const { threadId, toolCallId } = capability.claim;
  const discard = (reason: DiscardReason, detail?: string): void => {
    const details = detail === undefined ? {} : { detail };
    void callGuarded(onDiscarded, { reason, threadId, toolCallId, ...details });
  };
  const callback = { call: capability.claim, server, discard };
  const response = await queue.enter(capability.text, async (inOrder) =>
    handleCallback(state, callback, { request, inOrder }),
  );
  if (response !== undefined) return response;
  discard('too-many');
  return makeRefusalResponse(
    503,
    'too-busy',
    'Too many messages about this call are being handled. Send this one again later.',
  );
}

async function handleCallback(
  state: HandlerState,
  callback: Callback,
  { request, inOrder }: { request: Request; inOrder: SerialWork },
): Promise<Response> {
  const { server, discard } = callback;
  const body = await readJsonText(request, state.maximumBodyBytes);
  if (body instanceof Response) {
    discard('malformed', `HTTP ${body.status}`);
    return body;
  }
  if (server.signatures?.verify(request.headers, body.text) === false) {
    discard('signature');
    return makeRefusalResponse(
      401,
      'not-signed',
      'The message has no valid signature of the tool server.',
    );
  }
  /* In order, so that two questions at once can't both pass the limit of questions. */
  return inOrder.run(async () => handleMessage(state, callback, body.text));
}

async function handleMessage(
  state: HandlerState,
  callback: Callback,
  text: string,
): Promise<Response> {
  /* Text that is not JSON has no `type`, which `parseCallback` reports. */
  const parsed = parseCallback(parseJson(text));
  if (parsed === undefined) callback.discard('unsupported');
  else if ('message' in parsed) await recordCallback(state, callback, parsed.message);
  else {
    callback.discard('malformed', parsed.fault);
    return makeRefusalResponse(400, 'invalid-input', `Not a valid tool message: ${parsed.fault}`);
  }
  return new Response();
}

/** Records a result or a question in the thread of its call. Discards a message about another call, or about one that has ended. */
async function recordCallback(
  state: HandlerState,
  callback: Callback,
  message: UserChoiceMessage | ToolResultMessage,
): Promise<void> {
  const { call, discard } = callback;
  if (message.group_id !== call.threadId || message.id !== call.toolCallId) {
    discard('mismatch');
    return;
  }
  const thread = await state.agent.thread(call.threadId);
  const record = thread.calls.find(({ toolCallId }) => toolCallId === call.toolCallId);
  if (record?.toolName !== call.toolName || !isPending(record)) {
    discard('ended');
    return;
  }
  if (typeof message.call_id === 'string' && message.call_id !== record.idempotencyKey) {
    discard('mismatch', 'call_id');
    return;
  }
  try {
    if (message.type === 'user_choice') {
      await recordQuestion(state, callback, { thread, record }, message);
    } else {
      const outcome = toResultOutcome(message);
      await state.agent.deliver(thread, call.toolCallId, outcome, { channel: 'rap' });
    }
  } catch (error) {
    if (!isCallEnded(error)) throw error;
    discard('ended');
  }
}

/** Checks whether the call was handed to its server and has not ended. */
function isPending({ status }: ToolCallRecord): boolean {
  const awaited = awaitedBy[status];
  return awaited === 'attempt' || awaited === 'elsewhere';
}

const errorPrefix = 'Error: ';

/** The outcome that a `tool_result` reports. `content` takes precedence over `text`; a text that begins with `Error: ` is a failure. */
function toResultOutcome({ text, content }: ToolResultMessage): DeliveredOutcome {
  const parts: ResultPart[] = content ?? [{ type: 'text', text: text ?? '' }];
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  if (!texts.includes(undefined) && texts[0]?.startsWith(errorPrefix) === true) {
    return { status: 'failed', error: texts.join('\n') };
  }
  return { status: 'succeeded', output: content ?? text };
}

async function recordQuestion(
  { agent, maximumQuestions }: HandlerState,
  { call, server, discard }: Callback,
  { thread, record }: { thread: AgentThread; record: ToolCallRecord },
  message: UserChoiceMessage,
): Promise<void> {
  const responseUrl = parseAllowedUrl(message.response_url, server.origins)?.href;
  if (responseUrl === undefined) {
    discard('response-url', message.response_url.slice(0, 500));
    return;
  }
  if (countQuestions(thread, record) >= maximumQuestions) {
    discard('too-many');
    return;
  }
  await agent.requestAnswer(thread, call.toolCallId, makeChoiceQuestion(message, server), {
    replyTo: { responseUrl },
  });
}

/** Counts the questions that a call has asked. */
function countQuestions({ events }: AgentThread, { step, index }: ToolCallRecord): number {
  return events.filter(
    (event) =>
      event.type === 'request-opened' &&
      event.beside?.step === step &&
      event.beside.index === index,
  ).length;
}

/** Checks whether an error means that the call has ended in the meantime. */
export function isCallEnded(error: unknown): boolean {
  return (
    HoldpointError.isInstance(error) &&
    (error.code === 'already-answered' || error.code === 'not-allowed')
  );
}

/*
 * The question of a `user_choice`: pick one of the labels, in their order. Nothing is preselected. The server's default is the
 * answer of a dismissal if the app allows that; its index is in the metadata in any case.
 */
function makeChoiceQuestion(
  { prompt, choices, default: index }: UserChoiceMessage,
  { onDismiss }: Pick<RemoteServer, 'onDismiss'>,
): Question {
  const key = 'choice';
  const options = choices.map((label, at) => ({ id: String(at), label }));
  return {
    ...makeChoice({ kind: 'choice', text: prompt, key, options, freeText: 'never' }),
    metadata: { default: index },
    ...(onDismiss === 'default' ? { dismissAnswer: [{ key, optionIds: [String(index)] }] } : {}),
  };
}

/* Everything in a queue is held in memory. */
const maximumLength = 32;

/** Queues, one for each key. Each queue runs one piece of work at a time. */
class KeyedQueue {
  readonly #queues = new Map<string, { length: number; inOrder: SerialWork }>();

  /** Does work that takes a place in a queue; `undefined` if the queue is full. */
  async enter<RESULT>(
    key: string,
    work: (inOrder: SerialWork) => Promise<RESULT>,
  ): Promise<RESULT | undefined> {
    const queue = this.#queues.get(key) ?? { length: 0, inOrder: new SerialWork() };
    if (queue.length >= maximumLength) return undefined;
    queue.length += 1;
    this.#queues.set(key, queue);
    try {
      return await work(queue.inOrder);
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(key);
    }
  }
}
