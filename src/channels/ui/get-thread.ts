import { HoldpointError } from '../../errors.ts';
import { makeJsonResponse, renderPublicError } from '../../http/error-response.ts';
import { refuseForeignOrigin, authorizeRequest } from '../../http/receive-request.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { makeChunkResponse } from './output/chunk-stream.ts';
import { toUIMessages } from './output/to-ui-messages.ts';
import { makeLastTurnChunks } from './output/turn-streams.ts';
import { turnAt } from '../../view/turns.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';
import { checkViewer } from './viewer.ts';

/** `GET`: the whole thread as JSON, or its last turn as a stream. Records nothing and runs nothing. */
export async function getThread<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const foreign = refuseForeignOrigin(request, options);
  if (foreign !== undefined) return foreign;
  const { threadId, isStream, seen, claimed } = parseThreadUrl(request);
  const caller = await authorizeRequest(options, request, threadId);
  if (caller instanceof Response) return caller;
  const { principal } = caller;
  const viewer = await checkViewer(options.agent, { threadId, principal, claimed });
  if (viewer instanceof Response) return viewer;
  const thread = await options.agent.thread(threadId);
  if (isStream) return streamLastTurn(options, request, thread);
  const { revision, status } = thread;
  if (seen === `${revision}.${status}`) return new Response(null, { status: 204 });
  const messages = await toUIMessages(thread, options);
  return makeJsonResponse({
    messages,
    revision,
    status,
    viewer,
    ...describeFailure(thread, options),
  });
}

/* A worker resumes a thread sooner than this. */
const graceMs = 5_000;

function describeFailure<RUNTIME_CONTEXT>(
  { failure, status, resumeAt, events }: AgentThread,
  { agent, onError }: UiHandlerOptions<RUNTIME_CONTEXT>,
): object {
  if (failure === undefined) {
    /* The process of the run has died, or the run never began. */
    const isDue = status === 'idle' && resumeAt !== undefined;
    const isUnfinished = isDue && agent.now() - (events.at(-1)?.at ?? 0) >= graceMs;
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
  seen?: string | null;
  /** For whom the page says that it was loaded. */
  claimed: string | undefined;
} {
  const { pathname, searchParams } = new URL(url);
  const claimed = searchParams.get('viewer') ?? undefined;
  const named = searchParams.get('id');
  if (named !== null) {
    return {
      threadId: named,
      isStream: searchParams.has('stream'),
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
  thread: AgentThread,
): Response {
  const { events, revision, status } = thread;
  const hasReply = events
    .slice(turnAt(events, revision))
    .some(({ type }) => type === 'step-finished' || type === 'request-opened');
  if (!hasReply && status !== 'running') return new Response(null, { status: 204 });
  const disconnected = new AbortController();
  const chunks = makeLastTurnChunks(options, thread, disconnected.signal);
  return makeChunkResponse({ request, chunks, disconnected, headers: options.headers });
}
