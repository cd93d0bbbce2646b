import type { ToolSet } from 'ai';
import type { Agent } from '../../../agent/agent.ts';
import { callGuarded } from '../../../content/call-guarded.ts';
import { checkLimit } from '../../../content/checked-number.ts';
import { parseJson } from '../../../content/parse-json.ts';
import { refuseUnknown } from '../../../content/refuse-unknown.ts';
import { makeErrorResponse, makeRefusalResponse } from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import { SerialWork } from '../../../content/serial-work.ts';
import { readCapability } from '../callback-url.ts';
import { readRemoteServer } from '../remote-server.ts';
import { parseCallback } from './callback-message.ts';
import {
  type Callback,
  type DiscardedCallback,
  type DiscardReason,
  recordCallback,
  type RecordingOptions,
} from './record-callback.ts';

/** Options of `createCallbackHandler`. */
export interface CallbackHandlerOptions {
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

const callbackHandlerSettings = {
  agent: true,
  tools: true,
  maximumBodyBytes: true,
  maximumQuestions: true,
  onDiscarded: true,
} satisfies Record<keyof CallbackHandlerOptions, true>;

/** The options of a handler with their defaults, and its queue: the messages about one call are recorded one by one. */
interface HandlerState
  extends RecordingOptions, Pick<CallbackHandlerOptions, 'tools' | 'onDiscarded'> {
  maximumBodyBytes: number;
  queue: KeyedQueue;
}

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
