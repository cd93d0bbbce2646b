import type { UIMessageChunk } from 'ai';
import type {
  Agent,
  AgentResponse,
  AgentStream,
  AgentStreamEvent,
  AnswerOptions,
  RunOptions,
} from '../../../agent.ts';
import { HeldStream } from '../../../view/held-stream.ts';
import { checkLimit } from '../../../content/check-settings.ts';
import { EventBuffer } from '../../../content/event-buffer.ts';
import { waitForTimer } from '../../../content/waiting.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { turnAt } from '../../../view/turns.ts';
import type { ThreadViewOptions, UiHandlerOptions } from '../ui-handler-options.ts';
import { drain, makeChunkStream, withFirst } from './chunk-stream.ts';
import { type PagePosition, type StreamedPage, ThreadChunks } from './thread-chunks.ts';
import type { Provisional } from './turn-chunks.ts';
import { findViewerRights } from '../../../view/viewer-rights.ts';

/** A run that has begun, and the page that it is streamed to. */
interface StartedRun<RUNTIME_CONTEXT> extends StreamedPage {
  options: UiHandlerOptions<RUNTIME_CONTEXT>;
  runOptions: RunOptions<RUNTIME_CONTEXT>;
  events: AsyncIterable<AgentStreamEvent>;
  disconnected: AbortSignal;
}

/** Streams a page's run. Another worker's run is followed; if that worker is lost, its run is resumed here. */
export function streamChat<RUNTIME_CONTEXT>(
  run: StartedRun<RUNTIME_CONTEXT>,
): AsyncGenerator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(run.options, run);
  const { principal, channel } = run.runOptions;
  const viewer = { agent: run.options.agent, by: { principal, channel }, ...run };
  return withRights(streamTurn(chunks, streamChatRuns(run, chunks)), chunks, viewer);
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

/** Makes the chunks of the last turn, and of its run if there is one. */
export function makeLastTurnChunks<RUNTIME_CONTEXT>(
  options: UiHandlerOptions<RUNTIME_CONTEXT>,
  thread: AgentThread,
  viewer: StreamViewer,
): AsyncGenerator<UIMessageChunk, void> {
  const chunks = new ThreadChunks(options, { thread, position: { type: 'nothing' }, before: 0 });
  const run =
    thread.status === 'running'
      ? streamLastRun(options, chunks, { thread, disconnected: viewer.disconnected })
      : [];
  return withRights(streamTurn(chunks, run), chunks, viewer);
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

/** A run to stream, and the content that its reader already shows. */
interface UIMessageStreamOptions extends ThreadViewOptions {
  /** From `agent.stream`, not yet read. */
  stream: AgentStream;
  /** The handle that was passed to `agent.stream`. */
  thread: AgentThread;
  /** The revision in the metadata of the reader's last message: later events are streamed first. Default: the current one. */
  revision?: number;
}

/**
 * Converts a run to the AI SDK's UI message stream, for a route of your own: `createUIMessageStreamResponse({ stream })`. The run goes at
 * the pace of the stream's reader; a reader that leaves does not end it. Throws a `TypeError` if `revision` is not a whole number of at
 * least 0.
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

/** Streams a turn from the content that its page shows to its end, or to the error that ended it. */
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
 * Streams the chunks of a run; throws the run's error. Events that others append meanwhile come in the order of the thread. The thread may
 * be ahead of this reader: deltas come before the step that they became.
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

/** An event of a run in this process, for pages that follow it. */
type LiveEvent =
  /** The model streams the step of this number, or a tool yields a preliminary result before that step. */
  | { type: 'provisional'; step: number; event: Provisional }
  /** Events were recorded. */
  | { type: 'recorded' }
  /** The run has ended; provisional events that it did not record never count. */
  | { type: 'ended' };

type Listener = (event: LiveEvent) => void;

/** A thread that is run in this process, or followed by pages. */
interface LiveThread {
  /** The provisional events of the step that is not recorded yet, for pages that subscribe later. */
  provisional: Extract<LiveEvent, { type: 'provisional' }>[];
  listeners: Set<Listener>;
  /** The number of runs and pages that use this. */
  users: number;
}

type ThreadOpener = Pick<Agent, 'thread'>;

const threadsOf = new WeakMap<ThreadOpener, Map<string, LiveThread>>();

/** Yields the events of a run, and emits them to the pages that have subscribed. */
async function* broadcast(
  agent: ThreadOpener,
  thread: AgentThread,
  events: AsyncIterable<AgentStreamEvent>,
): AsyncGenerator<AgentStreamEvent, void> {
  const live = join(agent, thread.id);
  const emit = (event: LiveEvent): void => live.listeners.forEach((listener) => listener(event));
  let step = countNextStep(thread);
  let hasProvisional = false;
  try {
    for await (const event of events) {
      if ('at' in event) {
        if (event.type === 'step-finished') {
          step = event.step + 1;
          live.provisional = [];
        }
        emit({ type: 'recorded' });
      } else if (event.type !== 'finish' && event.type !== 'error') {
        hasProvisional = true;
        const provisional = { type: 'provisional', step, event } as const;
        keep(live, provisional);
        emit(provisional);
      }
      yield event;
    }
  } finally {
    /* A run that only records an answer for another run streams nothing, and the other run continues. */
    if (hasProvisional) {
      live.provisional = [];
      emit({ type: 'ended' });
    }
    leave(agent, thread.id);
  }
}

/** Subscribes to the runs of a thread in this process, beginning with what the open step has streamed. Returns the unsubscribe function. */
function subscribe(agent: ThreadOpener, threadId: string, listener: Listener): () => void {
  const live = join(agent, threadId);
  for (const event of live.provisional) listener(event);
  live.listeners.add(listener);
  return () => {
    live.listeners.delete(listener);
    leave(agent, threadId);
  };
}

/* A preliminary result replaces the previous one of the same call. */
function keep(live: LiveThread, added: LiveThread['provisional'][number]): void {
  const { event } = added;
  if (event.type === 'tool-result') {
    live.provisional = live.provisional.filter(
      ({ event: kept }) => kept.type !== 'tool-result' || kept.toolCallId !== event.toolCallId,
    );
  }
  live.provisional.push(added);
}

/** The number of the step that the model takes next. */
function countNextStep({ events }: AgentThread): number {
  const last = events.findLast((event) => event.type === 'step-finished');
  return last === undefined ? 0 : last.step + 1;
}

function join(agent: ThreadOpener, threadId: string): LiveThread {
  const threads = threadsOf.get(agent) ?? new Map<string, LiveThread>();
  threadsOf.set(agent, threads);
  const live = threads.get(threadId) ?? { provisional: [], listeners: new Set(), users: 0 };
  threads.set(threadId, live);
  live.users += 1;
  return live;
}

function leave(agent: ThreadOpener, threadId: string): void {
  const threads = threadsOf.get(agent);
  const live = threads?.get(threadId);
  if (live === undefined) return;
  live.users -= 1;
  if (live.users === 0) threads?.delete(threadId);
}

/** A reason for a page that follows a run to read the thread: an event of a run in this process, or the time to poll. */
type Signal = LiveEvent | { type: 'poll' } | { type: 'failed'; error: unknown };

/**
 * Streams what another run records, until the thread is not running or the page has disconnected; for a run in this process also the
 * model's deltas. Returns the thread as it is then.
 */
async function* followRun<RUNTIME_CONTEXT>(
  { agent, pollMs = 500, wait = waitForTimer }: UiHandlerOptions<RUNTIME_CONTEXT>,
  chunks: ThreadChunks,
  { thread: opened, disconnected }: { thread: AgentThread; disconnected: AbortSignal },
): AsyncGenerator<UIMessageChunk, AgentThread> {
  const signals = new EventBuffer<Signal>();
  signals.open();
  const drop = (): void => signals.drop();
  if (disconnected.aborted) drop();
  disconnected.addEventListener('abort', drop);
  const unsubscribe = subscribe(agent, opened.id, (event) => signals.push(event));
  const poll = (): void => void pushAfter(wait(pollMs, disconnected), signals);
  let thread = opened;
  let step = countNextStep(thread);
  try {
    poll();
    for (;;) {
      const { value: signal } = await signals.next();
      if (signal === undefined) return thread;
      if (signal.type === 'failed') throw signal.error;
      if (signal.type !== 'provisional' || signal.step > step) {
        thread = await agent.thread(opened.id);
        step = countNextStep(thread);
        yield* chunks.update(thread);
      }
      if (signal.type === 'provisional' && signal.step === step) {
        yield* chunks.ofProvisional(signal.event);
      }
      if (signal.type === 'ended' || thread.status !== 'running') yield* chunks.reset();
      if (thread.status !== 'running') return thread;
      if (signal.type === 'poll') poll();
    }
  } finally {
    unsubscribe();
    disconnected.removeEventListener('abort', drop);
  }
}

async function pushAfter(waiting: Promise<unknown>, signals: EventBuffer<Signal>): Promise<void> {
  try {
    await waiting;
    signals.push({ type: 'poll' });
  } catch (error) {
    signals.push({ type: 'failed', error });
  }
}

/** The person to whom a stream is sent. */
interface StreamViewer {
  agent: Pick<Agent, 'rights'>;
  by: AnswerOptions;
  /** Aborted when their page has disconnected. */
  disconnected: AbortSignal;
}

/**
 * Adds the viewer's rights to the open requests to their stream, before each chunk that shows another state of them: the transient part
 * `data-request-rights`. They are read for this stream alone, because other pages that follow the same run have other viewers.
 */
async function* withRights(
  stream: AsyncIterable<UIMessageChunk>,
  chunks: ThreadChunks,
  { agent, by, disconnected }: StreamViewer,
): AsyncGenerator<UIMessageChunk, void> {
  let sentAt = 0;
  for await (const chunk of stream) {
    if (chunks.askedAt > sentAt && !disconnected.aborted) {
      const { thread } = chunks;
      const data = await findViewerRights(agent, thread, by);
      sentAt = thread.revision;
      if (data !== undefined) yield { type: 'data-request-rights', transient: true, data };
    }
    yield chunk;
  }
}
