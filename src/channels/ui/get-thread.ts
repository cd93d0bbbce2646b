import type { UIMessageChunk } from 'ai';
import { HoldpointError } from '../../errors.ts';
import { allowed } from '../../http/authorize.ts';
import { jsonResponse, toldOf } from '../../http/error-response.ts';
import { foreignOrigin } from '../../http/foreign-origin.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { followRun } from './output/follow-run.ts';
import { chunkResponse } from './output/chunk-response.ts';
import { ThreadChunks } from './output/thread-chunks.ts';
import { toUIMessages } from './output/to-ui-messages.ts';
import { turnAt } from './output/turns.ts';
import type { UiHandlerOptions } from './ui-handler-options.ts';

/** Shows a thread, whole or its last turn as a stream. Nothing is decided and nothing is run here. */
export async function getThread<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
): Promise<Response> {
  const foreign = foreignOrigin(request, options);
  if (foreign !== undefined) return foreign;
  const { threadId, isStream } = askedFor(request);
  const caller = await allowed(options, request, threadId);
  if (caller instanceof Response) return caller;
  const thread = await options.agent.thread(threadId);
  if (isStream) return lastTurn(options, request, thread);
  const messages = await toUIMessages(thread, options);
  const { revision, status } = thread;
  return jsonResponse({ messages, revision, status, ...failureOf(thread, options) });
}

/* A worker resumes a thread sooner than this. */
const graceMs = 5_000;

function failureOf<RUNTIME_CONTEXT>(
  { failure, status, resumeAt, events }: AgentThread,
  { agent, onError }: UiHandlerOptions<RUNTIME_CONTEXT>,
): object {
  if (failure === undefined) {
    /* The run has died with its process, or was never begun. */
    const isDue = status === 'idle' && resumeAt !== undefined;
    const isUnfinished = isDue && agent.now() - (events.at(-1)?.at ?? 0) >= graceMs;
    return isUnfinished
      ? { failure: { text: 'The last reply is not complete.', failures: 0 } }
      : {};
  }
  const { failures, retryAt, error } = failure;
  const text = toldOf(new Error(error), onError);
  return { failure: { text, failures, ...(retryAt === undefined ? {} : { retryAt }) } };
}

/** `?id=…`, `?id=…&stream`, or a path that ends with `/<id>/stream`, which is where `useChat` reconnects by itself. */
function askedFor({ url }: Request): { threadId: string; isStream: boolean } {
  const { pathname, searchParams } = new URL(url);
  const named = searchParams.get('id');
  if (named !== null) return { threadId: named, isStream: searchParams.has('stream') };
  const [segment, last] = pathname.split('/').slice(-2);
  const threadId = last === 'stream' && segment !== undefined ? decoded(segment) : undefined;
  if (threadId !== undefined) return { threadId, isStream: true };
  throw new HoldpointError('invalid-input', 'Name a thread: ?id=…, or …/<id>/stream.');
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function lastTurn<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: Request,
  thread: AgentThread,
): Response {
  const { events, revision, status } = thread;
  const shows = events
    .slice(turnAt(events, revision))
    .some(({ type }) => type === 'step-finished' || type === 'request-opened');
  if (!shows && status !== 'running') return new Response(null, { status: 204 });
  const gone = new AbortController();
  const chunks = replayTurn(options, thread, gone.signal);
  return chunkResponse({ request, chunks, gone, headers: options.headers });
}

async function* replayTurn<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  opened: AgentThread,
  gone: AbortSignal,
): AsyncGenerator<UIMessageChunk, void> {
  const threadChunks = new ThreadChunks(options);
  let thread = opened;
  try {
    yield* threadChunks.begin(thread, { type: 'nothing' }, 0);
    if (thread.status === 'running') {
      thread = yield* followRun(options, threadChunks, { thread, gone });
      throwItsError(thread);
    }
    yield* threadChunks.end(thread);
  } catch (error) {
    yield* threadChunks.fail(thread, error);
  }
}

/* A run that failed elsewhere has failed for this page as well. Where it left a call whose outcome is unknown, the page shows that. */
function throwItsError({ events, status }: AgentThread): void {
  if (status === 'indeterminate') return;
  const last = events.findLast(({ type }) => type === 'run-ended' || type === 'run-started');
  if (last?.type === 'run-ended' && last.error !== undefined) throw new Error(last.error);
}
