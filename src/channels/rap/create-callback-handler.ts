import { callGuarded } from '../../agent/agent-events.ts';
import { errorResponse, refusal } from '../../http/error-response.ts';
import { readJsonText } from '../../http/read-json-body.ts';
import { capabilityIn } from './callback-capability.ts';
import type { CallbackHandlerOptions, DiscardReason } from './callback-handler-options.ts';
import { parseCallback } from './callback-message.ts';
import { serverOf } from './remote-server.ts';
import { type Callback, takeCallback } from './take-callback.ts';

/**
 * The route that remote tools call back: a fetch-style handler for Next, Hono, Bun, Deno, Workers. It records results and questions
 * and runs nothing: `runWorker`, or `agent.run([], thread)`, goes on with the thread.
 *
 * `POST` with a `tool_result` or a `user_choice`, at the URL that the call was given. Whatever is not about that call while it is
 * open is dropped, and answered with the same empty 200 as all that is taken; `onDiscarded` hears of it. A URL that was not given to
 * any call is 404 and nothing is read; 400, 401 (signatures), 405, 413 and 415 are for servers that speak another protocol; 500 says
 * that the store is out of reach, and that the message should be sent again.
 *
 * @example
 * export const POST = createCallbackHandler({ agent, tools });
 */
export function createCallbackHandler(
  options: CallbackHandlerOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      if (request.method !== 'POST') {
        return refusal(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
      }
      return await handle(options, request);
    } catch (error) {
      return errorResponse(new Error('The callback could not be recorded.', { cause: error }));
    }
  };
}

async function handle(options: CallbackHandlerOptions, request: Request): Promise<Response> {
  const { tools, maximumBodyBytes = 1_048_576, onDiscarded } = options;
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
  const body = await readJsonText(request, maximumBodyBytes);
  if (body instanceof Response) {
    discard('malformed', `HTTP ${body.status}`);
    return body;
  }
  if (server.signatures?.know(request.headers, body.text) === false) {
    discard('signature');
    return refusal(401, 'not-signed', 'The message is not signed, or not by the tool server.');
  }
  return takeMessage(options, { call: capability.claim, server, discard }, body.text);
}

async function takeMessage(
  options: CallbackHandlerOptions,
  callback: Callback,
  text: string,
): Promise<Response> {
  const parsed = parseCallback(parsedJson(text));
  if (parsed === undefined) callback.discard('unsupported');
  else if ('message' in parsed) await takeCallback(options, callback, parsed.message);
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
