import type { Agent } from './agent/agent.ts';
import { Bell } from './agent/bell.ts';
import type { ThreadStore, ThreadSummary } from './thread/thread-store.ts';

/** What a worker works with. */
export interface WorkerOptions {
  /** The agent whose threads are run; its `store` is `store`. */
  agent: Pick<Agent, 'thread' | 'run'>;
  store: Pick<ThreadStore, 'list' | 'subscribe'>;
  /** Ends the worker, and with their reason the runs it is at. */
  signal: AbortSignal;
  /** How often the store is asked when nothing wakes the worker, in milliseconds. Default 1,000. */
  pollMs?: number;
  /** How soon a thread is tried again that a run left as it was (the provider failed, a call is indeterminate), in milliseconds. Default 30,000. */
  retryAfterMs?: number;
  /** How many threads it runs at once. Default 4. */
  concurrency?: number;
  /** Hears of what went wrong with a thread, or with the store. */
  onError?: (error: unknown, threadId?: string) => void;
  /** The time, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/** A thread that was run and is still due. */
interface Tried {
  revision: number;
  again: number;
}

/**
 * Runs every thread that is owed a run, until `signal` aborts: answers were recorded by `respond`, results by `deliver`, a
 * request expired, a process died. Any number of workers may share a store; a thread is run by one of them.
 *
 * @example
 * await runWorker({ agent, store, signal: AbortSignal.timeout(60_000) });
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { store, signal, pollMs = 1_000, onError } = options;
  const bell = new Bell();
  const ring = (): void => bell.ring();
  const unsubscribe = store.subscribe?.(ring);
  signal.addEventListener('abort', ring);
  const timer = setInterval(ring, pollMs);
  let tried = new Map<string, Tried>();
  try {
    while (!signal.aborted) {
      try {
        tried = await runDue(options, tried);
      } catch (error) {
        onError?.(error);
      }
      if (!signal.aborted) await bell.wait();
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', ring);
    await unsubscribe?.();
  }
}

/** Runs what is due now, and says what still is. */
async function runDue(
  options: WorkerOptions,
  before: ReadonlyMap<string, Tried>,
): Promise<Map<string, Tried>> {
  const { store, concurrency = 4, now = Date.now } = options;
  const due = await dueThreads(store, now());
  const tried = new Map<string, Tried>();
  const waiting = due.filter(({ threadId, revision }) => {
    const last = before.get(threadId);
    const isTried = last?.revision === revision && now() < last.again;
    if (last !== undefined && isTried) tried.set(threadId, last);
    return !isTried;
  });
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      tried.set(next.threadId, await runThread(options, next));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return tried;
}

async function dueThreads(store: WorkerOptions['store'], now: number): Promise<ThreadSummary[]> {
  const due: ThreadSummary[] = [];
  for (let after: string | undefined; ; after = due.at(-1)?.threadId) {
    const page = await store.list({
      dueBefore: now + 1,
      ...(after === undefined ? {} : { after }),
    });
    due.push(...page);
    if (page.length === 0) return due;
  }
}

async function runThread(
  { agent, signal, onError, retryAfterMs = 30_000, now = Date.now }: WorkerOptions,
  { threadId, revision }: ThreadSummary,
): Promise<Tried> {
  const tried: Tried = { revision, again: now() + retryAfterMs };
  if (signal.aborted) return tried;
  try {
    const thread = await agent.thread(threadId);
    try {
      await agent.run([], thread, { signal });
    } finally {
      tried.revision = thread.revision;
    }
  } catch (error) {
    if (!signal.aborted) onError?.(error, threadId);
  }
  return tried;
}
