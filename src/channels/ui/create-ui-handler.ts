import { checkHold } from '../../agent/held-stream.ts';
import { checkHistoryOption } from '../../agent/import-from-client.ts';
import { checkPolling } from '../../agent/follow-thread.ts';
import { refuseUnknown } from '../../content/refuse-unknown.ts';
import { makeErrorResponse, makeRefusalResponse } from '../../http/error-response.ts';
import { checkOrigins } from '../../http/receive-request.ts';
import { getThread } from './get-thread.ts';
import { postChat } from './post-chat.ts';
import { type UiHandlerOptions, uiHandlerSettings } from './ui-handler-options.ts';

/**
 * The route of a chat page made with `useChat`: a fetch-style handler for Next, Hono, Bun, Deno, Workers. The thread on the server
 * is the history; a page sends its newest message, or answers to requests, and everything else in its request is ignored.
 *
 * - `POST` takes `{ id, message?, messages?, answers?, outputs?, revision?, whilePending? }` and streams the run.
 * - `POST { id, withdraw: requestId }` takes the caller's approval back, and `POST { id, reassign: { requestId, to } }` lets somebody else
 *   answer; both return `{ revision, status }`.
 * - `GET ?id=` returns `{ messages, revision, status, viewer, failure? }` for a page that loads. `failure` is `{ text, failures, retryAt? }`,
 *   if the last run failed. `viewer` says for whom the page is loaded: a request that repeats it, in its body or its query, is refused with
 *   `other-viewer` (403) if it is somebody else's.
 * - `GET …/<id>/stream` and `GET ?id=…&stream` stream the last turn again.
 *
 * The metadata of an assistant message is `{ threadId, revision, status }`: the revision up to which the page shows the thread, and the
 * thread's status.
 *
 * `answers` are the sender's own. An answer in a part of the messages counts for the sender only at the very end: in the last step of the last
 * message. One that is followed or refused while its request is open is asked again, in a stream that ends with the refusal as its error.
 *
 * Each answer is accepted or refused separately. If others were accepted, the refused ones come as a transient part,
 * `data-refused-answers`, with a list of `{ requestId, code, message }`. `data-stale`, transient too, means that the thread has more
 * than the page shows. Refusals are JSON, `{ error: { code, message }, refusedAnswers? }`: 400, 403, 404, 405, 409 (`already-answered`,
 * `request-closed`, `thread-busy` …), 413, 415, 500. `ThreadChat` and `useThreadChat` implement the page's side.
 *
 * @example
 * const handler = createUiHandler({
 *   agent,
 *   authorize: async ({ request, threadId }) => {
 *     const user = await userOf(request);
 *     return user !== undefined && mayUse(user, threadId) ? { principal: user.email } : undefined;
 *   },
 * });
 * export { handler as GET, handler as POST };
 */
export function createUiHandler<RUNTIME_CONTEXT = Record<string, unknown>>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
): (request: Request) => Promise<Response> {
  refuseUnknown('createUiHandler', options, uiHandlerSettings);
  checkPolling(options);
  checkHold(options);
  checkOrigins(options);
  checkHistoryOption(options.history);
  return async (request) => {
    try {
      if (request.method === 'POST') return await postChat(options, request);
      if (request.method === 'GET') return await getThread(options, request);
      return makeRefusalResponse(405, 'method-not-allowed', 'Use GET or POST.', {
        allow: 'GET, POST',
      });
    } catch (error) {
      return makeErrorResponse(error, options.onError);
    }
  };
}
