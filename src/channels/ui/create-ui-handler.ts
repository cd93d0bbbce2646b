import {
  type Agent,
  type AnswerOptions,
  checkPolling,
  digestViewer,
  watchThread,
} from '../../agent.ts';
import { checkHold } from '../../view/held-stream.ts';
import { checkHistoryOption } from '../../view/import-from-client.ts';
import { findViewerRights } from '../../view/viewer-rights.ts';
import {
  checkMethods,
  checkMs,
  refuseUnknown,
  requireFunctions,
} from '../../content/check-settings.ts';
import { HoldpointError } from '../../errors.ts';
import {
  makeErrorResponse,
  makeJsonResponse,
  makeRefusalResponse,
  renderPublicError,
} from '../../http/error-response.ts';
import {
  authorizeRequest,
  checkOrigins,
  receivePost,
  refuseForeignOrigin,
} from '../../http/receive-request.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { turnAt } from '../../view/turns.ts';
import { pageActs, type PageActs, parseChatRequest } from './input/chat-request.ts';
import { makeChunkResponse } from './output/chunk-stream.ts';
import { toUIMessages } from './output/to-ui-messages.ts';
import { makeLastTurnChunks } from './output/turn-streams.ts';
import { runChat } from './run-chat.ts';
import { type UiHandlerOptions, uiHandlerSettings } from './ui-handler-options.ts';
import { waitForTimer } from '../../content/waiting.ts';

/**
 * The route of a chat page made with `useChat`: a fetch-style handler for Next, Hono, Bun, Deno, Workers. The thread on the server is the
 * history; a page sends its newest message, or answers to requests, and everything else in its request is ignored.
 *
 * - `POST` takes `{ id, message?, messages?, answers?, outputs?, revision?, whilePending? }` and streams the run.
 * - `POST { id, resume: true }` resumes the calls on hold that the caller may reject, and streams the run.
 * - `POST { id, withdraw: requestId }` takes the caller's approval back, and `POST { id, reassign: { requestId, to } }` lets another person
 *   answer; both return `{ revision, status }`.
 * - `GET ?id=` returns `{ messages, revision, status, viewer, rights, failure? }` for a page that loads. `rights` says what this person may
 *   do with each open request, as `agent.rights` does; it is left out if it can't be determined. `failure` is `{ text, failures, retryAt?
 *   }`, if the last run failed. `viewer` identifies the person for whom the page is loaded: a request that repeats it, in its body or
 *   query, is refused with `other-viewer` (403) if another person sends it.
 * - `GET ?id=&seen=<revision>.<status>` returns 204 while the thread is in this state. With `&follow` the response comes when it has
 *   changed, or after `followMs`: `{ revision, status }`. A page that shows another state then reads the thread again.
 * - `GET …/<id>/stream` and `GET ?id=…&stream` stream the last turn again.
 *
 * The metadata of an assistant message is `{ threadId, revision, status }`: the revision up to which the page shows the thread, and the
 * thread's status. A user's message keeps its sender's metadata: everybody who opens the thread gets it, and no model.
 *
 * `answers` are the sender's own. An answer in a part of the messages counts for the sender only at the very end: in the last step of the
 * last message. One that is followed or refused while its request is open is asked again, in a stream that ends with the refusal as its
 * error.
 *
 * Each answer is accepted or refused separately. If others were accepted, the refused ones come as a transient part,
 * `data-refused-answers`, with a list of `{ requestId, code, message, field?, reason? }`: the path to the field that caused it, and the
 * reason. `data-stale`, transient too, means that the thread has more than the page shows. Refusals are JSON, `{ error: { code, message },
 * refusedAnswers? }`: 400, 403, 404, 405, 409 (`already-answered`, `request-closed`, `thread-busy` …), 413, 415, 500. `ThreadChat` and
 * `useThreadChat` implement the page's side.
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
  requireFunctions('createUiHandler', options, ['authorize']);
  checkMethods(options.agent, ['thread'], 'createUiHandler needs an agent');
  checkPolling(options);
  checkHold(options);
  checkMs(options.followMs ?? 0, 'followMs', 0);
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

/** `POST`: records what a page sends, and streams the run that follows; or stops the run, or changes the votes of a request. */
async function postChat<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const posted = await receivePost(options, request, {
    threadIdField: 'id',
    parse: parseChatRequest,
    maximumBodyBytes: 1_048_576,
    channel: 'ui',
  });
  if (posted instanceof Response) return posted;
  const { parsed } = posted;
  const { threadId, viewer: claimed } = parsed;
  const { principal, channel } = posted.runOptions;
  const viewer = await checkViewer(options.agent, { threadId, principal, claimed });
  if (viewer instanceof Response) return viewer;
  if (pageActs.every((act) => parsed[act] === undefined)) {
    return runChat(options, request, posted);
  }
  const { agent } = options;
  const thread = await agent.thread(threadId);
  const by = { principal, channel };
  for (const act of pageActs) await doAct(act, parsed[act], { agent, thread, by });
  return makeJsonResponse({ revision: thread.revision, status: thread.status });
}

/** The thread that a page acts on, and the person who acts. */
interface Acting {
  agent: Pick<Agent, 'stop' | 'withdraw' | 'reassign'>;
  thread: AgentThread;
  by: AnswerOptions;
}

/** The handlers of a page's acts. An act that the table lacks does not compile. */
const doActs: {
  readonly [ACT in keyof PageActs]: (given: PageActs[ACT], acting: Acting) => Promise<void>;
} = {
  stop: async (_given, { agent, thread, by }) => agent.stop(thread, by),
  withdraw: async (requestId, { agent, thread, by }) => agent.withdraw(thread, requestId, by),
  reassign: async ({ requestId, to }, { agent, thread, by }) =>
    agent.reassign(thread, requestId, to, by),
};

async function doAct<ACT extends keyof PageActs>(
  act: ACT,
  given: PageActs[ACT] | undefined,
  acting: Acting,
): Promise<void> {
  if (given !== undefined) await doActs[act](given, acting);
}

/** `GET`: the whole thread as JSON, or its last turn as a stream. Records nothing and runs nothing. */
async function getThread<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const foreign = refuseForeignOrigin(request, options);
  if (foreign !== undefined) return foreign;
  const { threadId, isStream, isFollowed, seen, claimed } = parseThreadUrl(request);
  const caller = await authorizeRequest(options, request, threadId);
  if (caller instanceof Response) return caller;
  const { principal } = caller;
  const viewer = await checkViewer(options.agent, { threadId, principal, claimed });
  if (viewer instanceof Response) return viewer;
  const thread = await options.agent.thread(threadId);
  const by = { principal, channel: 'ui' };
  if (isStream) return streamLastTurn(options, request, { thread, by });
  if (seen === `${thread.revision}.${thread.status}`) {
    const { followMs = 25_000 } = options;
    if (isFollowed && followMs > 0) return makeHeldResponse(options, request, { thread, followMs });
    return new Response(null, { status: 204 });
  }
  /* This reads the thread again, so that the rights are about the shown state. */
  const rights = await findViewerRights(options.agent, thread, by);
  const { revision, status } = thread;
  const messages = await toUIMessages(thread, options);
  return makeJsonResponse({
    messages,
    revision,
    status,
    viewer,
    ...(rights === undefined ? {} : { rights }),
    ...describeFailure(thread, options),
  });
}

/* A worker would have resumed a thread by then. */
const graceMs = 5_000;

function describeFailure<RUNTIME_CONTEXT>(
  { failure, status, events }: AgentThread,
  { agent, onError }: UiHandlerOptions<RUNTIME_CONTEXT>,
): object {
  if (failure === undefined) {
    /* The process of the run has died, or the run never began. */
    const isUnfinished = status === 'due' && agent.now() - (events.at(-1)?.at ?? 0) >= graceMs;
    return isUnfinished
      ? { failure: { text: 'The last reply is not complete.', failures: 0 } }
      : {};
  }
  const { failures, retryAt, error } = failure;
  const text = renderPublicError(new Error(error), onError);
  return { failure: { text, failures, ...(retryAt === undefined ? {} : { retryAt }) } };
}

/** `?id=…`, `?id=…&stream`, or a path that ends with `/<id>/stream`, which is where `useChat` reconnects by default. */
function parseThreadUrl({ url }: Request): {
  threadId: string;
  isStream: boolean;
  /** True if the page waits for the next change. */
  isFollowed?: boolean;
  seen?: string | null;
  /** The viewer for whom the page claims to be loaded. */
  claimed: string | undefined;
} {
  const { pathname, searchParams } = new URL(url);
  const claimed = searchParams.get('viewer') ?? undefined;
  const named = searchParams.get('id');
  if (named !== null) {
    return {
      threadId: named,
      isStream: searchParams.has('stream'),
      isFollowed: searchParams.has('follow'),
      seen: searchParams.get('seen'),
      claimed,
    };
  }
  const [segment, last] = pathname.split('/').slice(-2);
  const threadId = last === 'stream' && segment !== undefined ? decodeSegment(segment) : undefined;
  if (threadId !== undefined) return { threadId, isStream: true, claimed };
  throw new HoldpointError(
    'invalid-input',
    `The URL path ${JSON.stringify(pathname)} does not name a thread; request ?id=<id>, or a path that ends with /<id>/stream.`,
  );
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function streamLastTurn<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { thread, by }: { thread: AgentThread; by: AnswerOptions },
): Response {
  const { events, revision, status } = thread;
  const hasReply = events
    .slice(turnAt(events, revision))
    .some(({ type }) => type === 'step-finished' || type === 'request-opened');
  if (!hasReply && status !== 'running') return new Response(null, { status: 204 });
  const disconnected = new AbortController();
  const viewer = { agent: options.agent, by, disconnected: disconnected.signal };
  const chunks = makeLastTurnChunks(options, thread, viewer);
  return makeChunkResponse({ request, chunks, disconnected, headers: options.headers });
}

/** A person's request about a thread. */
interface ViewerRequest {
  threadId: string;
  principal: unknown;
  /** The viewer for whom the page claims to be loaded; plain pages don't say. */
  claimed: string | undefined;
}

/** Finds the viewer of the thread. Returns a refusal for a page that was loaded for another person than the sender of its request. */
async function checkViewer(
  agent: object,
  { threadId, principal, claimed }: ViewerRequest,
): Promise<string | undefined | Response> {
  const viewer = await digestViewer(agent, threadId, principal);
  if (claimed === undefined || claimed === viewer) return viewer;
  const message = 'This page was loaded for somebody else. Nothing was recorded; load it again.';
  return makeRefusalResponse(403, 'other-viewer', message);
}

/** Writes the state for a page that follows a thread: it reads the thread again if it shows another one. */
function describeState({ revision, status }: AgentThread): string {
  return JSON.stringify({ revision, status });
}

/**
 * Makes the response to a page that follows a thread: the thread's state as JSON, once it has changed or after `followMs`. It ends when the
 * page leaves, which a server reports by cancelling the body or by aborting the request. It says no more than that, because the person may
 * have been signed out meanwhile.
 */
function makeHeldResponse<RUNTIME_CONTEXT>(
  { agent, pollMs, wait = waitForTimer }: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  { thread, followMs }: { thread: AgentThread; followMs: number },
): Response {
  const seen = describeState(thread);
  const ended = new AbortController();
  const end = (): void => ended.abort();
  if (request.signal.aborted) end();
  else request.signal.addEventListener('abort', end, { once: true });
  const polling = { wait, signal: ended.signal, ...(pollMs === undefined ? {} : { pollMs }) };
  const findState = async (): Promise<string> => {
    void wait(followMs, ended.signal).then(end, end);
    for await (const now of watchThread(agent, thread, polling)) {
      if (describeState(now) !== seen) return describeState(now);
    }
    return seen;
  };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          controller.enqueue(new TextEncoder().encode(await findState()));
          controller.close();
        } finally {
          end();
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return new Response(body, { headers });
}
