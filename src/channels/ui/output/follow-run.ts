import type { UIMessageChunk } from 'ai';
import type { Agent } from '../../../agent/agent.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import { EventBuffer } from '../../../content/event-buffer.ts';
import { waitForTimer } from '../../../content/timer.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';
import type { ThreadChunks } from './thread-chunks.ts';
import type { Provisional } from './turn-chunks.ts';

/** What happens in a run of this process, for pages that follow it. */
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
  /** How many runs and pages use this. */
  users: number;
}

type ThreadOpener = Pick<Agent, 'thread'>;

const threadsOf = new WeakMap<ThreadOpener, Map<string, LiveThread>>();

/** Yields the events of a run, and emits them to the pages that have subscribed. */
export async function* broadcast(
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

/** When a page that follows a run reads the thread: at events of a run in this process, and when it is time to poll. */
type Signal = LiveEvent | { type: 'poll' } | { type: 'failed'; error: unknown };

/**
 * Streams what another run records, until the thread is not running or the page has disconnected; for a run in this process also what the
 * model streams. Returns the thread as it is then.
 */
export async function* followRun<RUNTIME_CONTEXT>(
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
