import type { RunOptions } from '../../../agent/run.ts';
import type { UIMessageChunk } from 'ai';
import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { AgentStream, AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { HeldStream } from '../../../agent/held-stream.ts';
import { checkLimit } from '../../../content/checked-number.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { turnAt } from '../../../view/turns.ts';
import type { ThreadViewOptions, UiHandlerOptions } from '../ui-handler-options.ts';
import { makeChunkStream, drain, withFirst } from './chunk-stream.ts';
import { broadcast, followRun } from './follow-run.ts';
import { type PagePosition, type StreamedPage, ThreadChunks } from './thread-chunks.ts';

/** A run that has begun, and the page that it is streamed to. */
interface StartedRun<RUNTIME_CONTEXT> extends StreamedPage {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  events: AsyncIterable<AgentStreamEvent>;
  disconnected: AbortSignal;
}

/** The stream of a page's run. A run of another worker on the thread is followed; if that worker is lost, its run is resumed here. */
export function streamChat<RUNTIME_CONTEXT>(
  run: StartedRun<RUNTIME_CONTEXT>,
): AsyncGenerator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(run.options, run);
  return streamTurn(chunks, streamChatRuns(run, chunks));
}

async function* streamChatRuns<RUNTIME_CONTEXT>(
  { options, runOptions, disconnected, ...started }: StartedRun<RUNTIME_CONTEXT>,
  chunks: ThreadChunks,
): AsyncGenerator<UIMessageChunk, void> {
  const held = new HeldStream(options.agent, options, disconnected);
  let { thread, events } = started;
  try {
    for (;;) {
      const status = yield* runChunks(broadcast(options.agent, thread, events), thread, chunks);
      if (status === 'running')
        thread = yield* followRun(options, chunks, { thread, disconnected });
      else for await (thread of held.follow(thread)) yield* chunks.update(thread);
      if (disconnected.aborted || (status !== 'running' && !held.hasResult(thread))) return;
      events = options.agent.stream([], thread, runOptions);
    }
  } finally {
    held.end();
  }
}

/** The last turn, and the run of it if there is one. */
export function makeLastTurnChunks<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  thread: AgentThread,
  disconnected: AbortSignal,
): AsyncGenerator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(options, { thread, position: { type: 'nothing' }, before: 0 });
  const run =
    thread.status === 'running' ? streamLastRun(options, chunks, { thread, disconnected }) : [];
  return streamTurn(chunks, run);
}

async function* streamLastRun<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  chunks: ThreadChunks,
  opened: { thread: AgentThread; disconnected: AbortSignal },
): AsyncGenerator<UIMessageChunk, void> {
  throwRunError(yield* followRun(options, chunks, opened));
}

/* A run that failed in another worker has failed for this page too. An indeterminate call that it left is shown by its status. */
function throwRunError({ events, status }: AgentThread): void {
  if (status === 'indeterminate') return;
  const last = events.findLast(({ type }) => type === 'run-ended' || type === 'run-started');
  if (last?.type === 'run-ended' && last.error !== undefined) throw new Error(last.error);
}

/** A run to stream, and what its reader already shows. */
export interface UIMessageStreamOptions extends ThreadViewOptions {
  /** From `agent.stream`, not yet read. */
  stream: AgentStream;
  /** The handle that was passed to `agent.stream`. */
  thread: AgentThread;
  /** The revision in the metadata of the reader's last message: later events are streamed first. Default: the current one. */
  revision?: number;
}

/**
 * A run as the AI SDK's UI message stream, for a route of your own: `createUIMessageStreamResponse({ stream })`. The run goes at the pace
 * of the stream's reader; a reader that leaves does not end it. Throws a `TypeError` if `revision` is not a whole number of at least 0.
 */
export function toUIMessageStream({
  stream,
  thread,
  revision,
  ...options
}: UIMessageStreamOptions): ReadableStream<UIMessageChunk> {
  if (revision !== undefined) checkLimit(revision, 'revision');
  const chunks = streamOwnRun({ stream, thread, options, revision, before: thread.revision });
  return makeChunkStream(chunks, () => void drain(chunks));
}

async function* streamOwnRun({
  stream,
  thread,
  options,
  revision,
  before,
}: {
  stream: AgentStream;
  thread: AgentThread;
  options: ThreadViewOptions;
  revision: number | undefined;
  before: number;
}): AsyncGenerator<UIMessageChunk, void> {
  const events = stream[Symbol.asyncIterator]();
  const first = await events.next();
  const isNewTurn = turnAt(thread.events, thread.revision) > before;
  const position: PagePosition = isNewTurn
    ? { type: 'nothing' }
    : { type: 'message', revision, answers: [], isHeld: revision !== undefined };
  const chunks = new ThreadChunks(options, { thread, position, before });
  yield* streamTurn(chunks, runChunks(withFirst(first, events), thread, chunks));
}

/** A turn from what its page shows to its end, or to the error that ended it. */
async function* streamTurn(
  chunks: ThreadChunks,
  rest: AsyncIterable<UIMessageChunk> | readonly UIMessageChunk[],
): AsyncGenerator<UIMessageChunk, void> {
  try {
    yield* chunks.begin();
    yield* rest;
    yield* chunks.end();
  } catch (error) {
    yield* chunks.fail(error);
  }
}

/**
 * The chunks of a run; throws the run's error. Events that others append meanwhile come in the order of the thread. The thread may be ahead of
 * this reader: what the model streamed comes before the step that it became.
 */
async function* runChunks(
  events: AsyncIterable<AgentStreamEvent>,
  thread: AgentThread,
  chunks: ThreadChunks,
): AsyncGenerator<UIMessageChunk, AgentResponse['status'] | undefined> {
  let status: AgentResponse['status'] | undefined;
  for await (const event of events) {
    if ('at' in event) yield* chunks.update(thread, event);
    else if (event.type === 'finish') ({ status } = event.response);
    else if (event.type === 'error') throw event.error;
    else yield* chunks.ofProvisional(event);
  }
  yield* chunks.update(thread);
  return status;
}
