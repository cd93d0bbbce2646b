import type { Agent } from './agent/agent.ts';
import { Bell } from './agent/bell.ts';
import { checkedMs } from './content/checked-number.ts';
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
  /** Hears of what went wrong with a thread, or with the store. What it throws, or rejects with, is dropped. */
  onError?: (error: unknown, threadId?: string) => unknown;
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
 * request expired, a process died. Any number of workers may share a store; a thread is run by one of them. A run that takes long
 * takes one place of `concurrency`, and holds up no other. A thread whose run took its `maxSteps` is left to who runs it by hand. Rejects
 * with a `TypeError` for options that are no limits.
 *
 * @example
 * await runWorker({ agent, store, signal: AbortSignal.timeout(60_000) });
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { store, signal, pollMs = 1_000, concurrency = 4, retryAfterMs = 30_000 } = options;
  checkedMs(pollMs, 'pollMs');
  if (!(concurrency >= 1 && retryAfterMs >= 0)) {
    throw new TypeError('concurrency is 1 or more, and retryAfterMs 0 or more.');
  }
  const bell = new Bell();
  const ring = (): void => bell.ring();
  const unsubscribe = store.subscribe?.(ring);
  signal.addEventListener('abort', ring);
  const timer = setInterval(ring, pollMs);
  const lanes = new Lanes({ ...options, concurrency, retryAfterMs, ring });
  try {
    while (!signal.aborted) {
      await lanes.fill();
      if (!signal.aborted) await bell.wait();
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', ring);
    await lanes.empty();
    await unsubscribe?.();
  }
}

/** What the lanes of a worker are run with; `ring` has them filled again. */
type LaneSetting = WorkerOptions & { concurrency: number; retryAfterMs: number; ring: () => void };

/** The threads that a worker is running, side by side, and those that wait for a place. */
class Lanes {
  readonly #setting: LaneSetting;
  readonly #underway = new Map<string, Promise<void>>();
  #waiting: ThreadSummary[] = [];
  #tried = new Map<string, Tried>();
  /** Whether a thread was due again while it was running still. */
  #isDueAgain = false;

  constructor(setting: LaneSetting) {
    this.#setting = setting;
  }

  /** Begins what is due, as far as there are places; looks for it when all that was found has begun. */
  async fill(): Promise<void> {
    try {
      if (this.#waiting.length === 0) this.#waiting = await this.#look();
    } catch (error) {
      void this.#tell(error);
    }
    const { concurrency, signal } = this.#setting;
    while (this.#underway.size < concurrency && !signal.aborted) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underway.set(next.threadId, this.#runIn(next));
    }
  }

  async #runIn(next: ThreadSummary): Promise<void> {
    this.#tried.set(next.threadId, await this.#run(next));
    this.#underway.delete(next.threadId);
    if (this.#waiting.length > 0 || this.#isDueAgain) this.#setting.ring();
  }

  /** Resolves when nothing is running any more. */
  async empty(): Promise<void> {
    await Promise.all(this.#underway.values());
  }

  /** The threads that are due, but for those that are running, and those that were tried and are as they were. */
  async #look(): Promise<ThreadSummary[]> {
    const { store, now = Date.now } = this.#setting;
    const due = await dueThreads(store, now());
    const before = this.#tried;
    this.#tried = new Map();
    this.#isDueAgain = due.some(({ threadId }) => this.#underway.has(threadId));
    return due.filter(({ threadId, revision }) => {
      const last = before.get(threadId);
      const isTried = last?.revision === revision && now() < last.again;
      if (last !== undefined && isTried) this.#tried.set(threadId, last);
      return !isTried && !this.#underway.has(threadId);
    });
  }

  async #run({ threadId, revision }: ThreadSummary): Promise<Tried> {
    const { agent, signal, retryAfterMs, now = Date.now } = this.#setting;
    const tried: Tried = { revision, again: now() + retryAfterMs };
    try {
      const thread = await agent.thread(threadId);
      try {
        await agent.run([], thread, { signal });
      } finally {
        tried.revision = thread.revision;
      }
    } catch (error) {
      if (!signal.aborted) void this.#tell(error, threadId);
    }
    return tried;
  }

  async #tell(error: unknown, threadId?: string): Promise<void> {
    try {
      await this.#setting.onError?.(error, threadId);
    } catch {
      /* Whoever hears of failures must not stop the others. */
    }
  }
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
