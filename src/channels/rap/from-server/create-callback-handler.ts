import { callGuarded } from '../../../agent/run/agent-events.ts';
import { errorResponse, refusal } from '../../../http/error-response.ts';
import { readJsonText } from '../../../http/read-json-body.ts';
import { capabilityIn } from '../callback-url.ts';
import type { CallbackHandlerOptions, DiscardReason } from './callback-handler-options.ts';
import { parseCallback } from './callback-message.ts';
import { checkedLimit } from '../../../content/checked-number.ts';
import { type InTurn, Lines } from './keyed-queue.ts';
import { serverOf } from '../remote-server.ts';
import { type Callback, type CallbackSetting, takeCallback } from './record-callback.ts';

/** What callbacks are taken with. */
interface Taking extends CallbackSetting, Pick<CallbackHandlerOptions, 'tools' | 'onDiscarded'> {
  maximumBodyBytes: number;
  lines: Lines;
}

/**
 * The route that remote tools call back: a fetch-style handler for Next, Hono, Bun, Deno, Workers. It records results and questions
 * and runs nothing: `runWorker`, or `agent.run([], thread)`, goes on with the thread.
 *
 * `POST` with a `tool_result` or a `user_choice`, at the URL that the call was given. Whatever is not about that call while it is
 * open is dropped, and answered with the same empty 200 as all that is taken; `onDiscarded` hears of it. A URL that was not given to
 * any call is 404 and nothing is read; 400, 401 (signatures), 405, 413 and 415 are for servers that speak another protocol; 500 (the
 * store is out of reach) and 503 (32 messages about the call are being taken) say that the message should be sent again.
 *
 * Throws a `TypeError` for a limit that is no number.
 *
 * @example
 * export const POST = createCallbackHandler({ agent, tools });
 */
export function createCallbackHandler(
  options: CallbackHandlerOptions,
): (request: Request) => Promise<Response> {
  const limits = {
    maximumBodyBytes: checkedLimit(options.maximumBodyBytes ?? 1_048_576, 'maximumBodyBytes'),
    maximumQuestions: checkedLimit(options.maximumQuestions ?? 20, 'maximumQuestions'),
  };
  const taking = { ...options, ...limits, lines: new Lines() };
  return async (request) => {
    try {
      if (request.method !== 'POST') {
        return refusal(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
      }
      return await handle(taking, request);
    } catch (error) {
      return errorResponse(new Error('The callback could not be recorded.', { cause: error }));
    }
  };
}

async function handle(taking: Taking, request: Request): Promise<Response> {
  const { tools, lines, onDiscarded } = taking;
  const capability = capabilityIn(request.url);
  const tool = new Map(Object.entries(tools)).get(capability?.claim.toolName ?? '');
  const server = tool && serverOf(tool);
  if (capability === undefined || server === undefined || !(await server.keys.know(capability))) {
    void callGuarded(onDiscarded, { reason: 'capability' });
    return refusal(404, 'not-found', 'There is nothing here.');
  }
  const { threadId, toolCallId } = capability.claim;
  const discard = (reason: DiscardReason, detail?: string): void => {
    const said = detail === undefined ? {} : { detail };
    void callGuarded(onDiscarded, { reason, threadId, toolCallId, ...said });
  };
  const callback = { call: capability.claim, server, discard };
  const taken = await lines.stand(capability.text, async (inTurn) =>
    takeRequest(taking, callback, { request, inTurn }),
  );
  if (taken !== undefined) return taken;
  discard('too-many');
  return refusal(503, 'too-busy', 'Too much is said of this call at once.');
}

async function takeRequest(
  taking: Taking,
  callback: Callback,
  { request, inTurn }: { request: Request; inTurn: InTurn },
): Promise<Response> {
  const { server, discard } = callback;
  const body = await readJsonText(request, taking.maximumBodyBytes);
  if (body instanceof Response) {
    discard('malformed', `HTTP ${body.status}`);
    return body;
  }
  if (server.signatures?.know(request.headers, body.text) === false) {
    discard('signature');
    return refusal(401, 'not-signed', 'The message is not signed, or not by the tool server.');
  }
  /* How often a call has asked is counted before the next of its questions is. */
  return inTurn(async () => takeMessage(taking, callback, body.text));
}

async function takeMessage(taking: Taking, callback: Callback, text: string): Promise<Response> {
  const parsed = parseCallback(parsedJson(text));
  if (parsed === undefined) callback.discard('unsupported');
  else if ('message' in parsed) await takeCallback(taking, callback, parsed.message);
  else {
    callback.discard('malformed', parsed.fault);
    return refusal(400, 'invalid-input', `This is no message of a tool: ${parsed.fault}`);
  }
  return new Response();
}

/* What is no JSON is no message either. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
