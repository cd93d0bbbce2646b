import { checkHold } from '../../agent/held-stream.ts';
import { checkHistoryOption } from '../../agent/import-from-client.ts';
import { checkPolling } from '../../agent/follow-thread.ts';
import { checkMs } from '../../content/checked-number.ts';
import { refuseUnknown } from '../../content/refuse-unknown.ts';
import { waitForTimer } from '../../content/timer.ts';
import { makeErrorResponse, makeRefusalResponse } from '../../http/error-response.ts';
import { checkOrigins } from '../../http/foreign-origin.ts';
import { receivePost } from '../../http/receive-post.ts';
import { type AgUiHandlerOptions, agUiHandlerSettings } from './ag-ui-handler-options.ts';
import { makeEventStreamResponse, type KeepAlive } from './event-stream-response.ts';
import { EventBacklog } from './event-backlog.ts';
import { streamRun } from './stream-run.ts';
import { openWithHistory } from './input/client-history.ts';
import { parseRunAgentInput } from './input/run-agent-input.ts';

/* In characters. A client that is further behind gets the rest at the end. */
const maximumBacklog = 262_144;

/**
 * The route of AG-UI clients, 1.0 and (from 0.0.46) before: a fetch-style handler for Next, Hono, Bun, Deno, Workers. It takes a
 * `RunAgentInput` and streams the run as server-sent events. The thread on the server is the history: of a client's messages only the
 * user's newest count.
 *
 * A run that asks people ends with an interrupt outcome. `resume` answers all interrupts at once, or `forwardedProps.interactionResponse`
 * answers a question; one with a single pick takes `{ selectedOptionId }` or `{ selected }`. A message while requests are open is refused,
 * unless `forwardedProps.whilePending` is `'cancel'`. A client that sends no `protocolVersion` gets `outcome` in the form before 1.0, and
 * `result: { status, pendingToolCallIds? }` for what that can't express.
 *
 * An input that the thread refuses ends the run with `RUN_ERROR` and changes nothing: `not-found`, `already-answered`,
 * `request-closed`, `invalid-answer`, `NO_RESPONSE_FOR_PENDING` … An invalid HTTP request gets a status with
 * `{ error: { code, message } }`: 400, 403 (also `foreign-origin`, a page of another site), 405, 413, 415, 500.
 *
 * Throws a `TypeError` for an option that it does not have, and for an invalid time, origin or `history`.
 *
 * @example
 * const handler = createAgUiHandler({
 *   agent,
 *   authorize: async ({ request, threadId }) => {
 *     const user = await userOf(request);
 *     return user !== undefined && mayUse(user, threadId) ? { principal: user.email } : undefined;
 *   },
 * });
 * export { handler as POST };
 */
export function createAgUiHandler<RUNTIME_CONTEXT = Record<string, unknown>>(
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>,
): (request: Request) => Promise<Response> {
  refuseUnknown('createAgUiHandler', options, agUiHandlerSettings);
  checkPolling(options);
  checkHold(options);
  checkOrigins(options);
  checkHistoryOption(options.history);
  const keepAlive = checkKeepAlive(options);
  return async (request) => {
    try {
      if (request.method === 'POST') return await postRun(options, request, keepAlive);
      return makeRefusalResponse(405, 'method-not-allowed', 'Use POST.', { allow: 'POST' });
    } catch (error) {
      return makeErrorResponse(error, options.onError);
    }
  };
}

/* The response does not wait for the run, nor the run for the response. */
async function postRun<RUNTIME_CONTEXT>(
  options: AgUiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  keepAlive: KeepAlive,
): Promise<Response> {
  const posted = await receivePost(options, request, {
    parse: parseRunAgentInput,
    maximumBodyBytes: 4_194_304,
    channel: 'ag-ui',
  });
  if (posted instanceof Response) return posted;
  const { parsed: input, runOptions, disconnected } = posted;
  const { principal, channel } = runOptions;
  const thread = await openWithHistory(options, input, { principal, channel });
  const backlog = new EventBacklog(maximumBacklog);
  const run = { options, runOptions, input, thread, backlog, disconnected: disconnected.signal };
  /* If reporting a failure fails too, the stream ends without a last event. */
  streamRun(run).catch(() => backlog.leave());
  return makeEventStreamResponse({
    request,
    backlog,
    disconnected,
    headers: options.headers,
    keepAlive,
  });
}

function checkKeepAlive({
  keepAliveMs = 15_000,
  wait = waitForTimer,
}: Partial<KeepAlive>): KeepAlive {
  return { keepAliveMs: checkMs(keepAliveMs, 'keepAliveMs', 0), wait };
}
