import type { Agent } from './agent/agent.ts';
import { callGuarded } from './content/call-guarded.ts';
import { checkedMs } from './content/checked-number.ts';
import type { ToolCallRecord } from './content/tool-call.ts';
import { WakeUp } from './content/wake-up.ts';
import type { AgentThread } from './thread/agent-thread.ts';
import { clockOf } from './thread/store-clock.ts';
import { isSamePlace, type RunFailure } from './thread/thread-state.ts';
import type { ThreadNotice, ThreadStore, ThreadSummary } from './thread/thread-store.ts';

/** What a worker works with. */
export interface WorkerOptions {
  /** The agent whose threads are run; its `store` is `store`. Threads of agents of other names are left alone. */
  agent: Pick<Agent, 'name' | 'now' | 'thread' | 'run'>;
  store: Pick<ThreadStore, 'claim' | 'subscribe' | 'now'>;
  /** Ends the worker, and with their reason the runs it is at. */
  signal: AbortSignal;
  /** How often the store is asked for due threads when nothing wakes the worker, in milliseconds. Default 1,000. */
  pollMs?: number;
  /**
   * How long a thread is left to the worker that claimed it, in milliseconds, as long as nothing is appended: a worker that dies before
   * it has begun, or can't open the thread, delays it by this. Default 30,000.
   */
  claimMs?: number;
  /** How many threads it runs at once. Default 4. */
  concurrency?: number;
  /** Called with what a run, or the store, failed with. What it throws, or rejects with, is dropped. */
  onError?: (error: unknown, threadId?: string) => unknown;
  /**
   * Called once when this worker finds calls that were started and whose outcome nobody knows. Look at what really happened, and call
   * `agent.settle`; the thread waits until then. What it throws, or rejects with, is dropped.
   */
  onIndeterminate?: (lost: { threadId: string; calls: readonly ToolCallRecord[] }) => unknown;
  /**
   * Called when a thread has failed too often in a row and is not tried again by itself. What it throws, or rejects with, is dropped.
   */
  onStuck?: (stuck: { threadId: string; failure: Readonly<RunFailure> }) => unknown;
}

/**
 * Runs every thread of the agent that needs a run, until `signal` aborts: answers were recorded by `respond`, results by `deliver`, a
 * request expired, a process died, a failed run is to be tried again. Any number of workers may share a store: each claims a few threads
 * at a time. A run that takes long takes one place of `concurrency`, and holds up no other. A thread whose run took its `maxSteps`, that
 * is stuck, or whose call is indeterminate is left to who runs or settles it by hand. Rejects with a `TypeError` for options that can't be
 * used, and where the store can't listen.
 *
 * @example
 * await runWorker({ agent, store, signal: AbortSignal.timeout(60_000) });
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { store, signal, pollMs = 1_000, claimMs = 30_000, concurrency = 4 } = options;
  checkedMs(pollMs, 'pollMs');
  checkedMs(claimMs, 'claimMs');
  if (!(concurrency >= 1))
    throw new TypeError(`concurrency must be 1 or more; got ${concurrency}.`);
  const clock = clockOf(store);
  const wakeUp = new WakeUp();
  const lanes = new Lanes({
    ...options,
    claimMs,
    concurrency,
    wake: () => wakeUp.wake(),
  });
  const unsubscribe = store.subscribe?.((notice) => lanes.notice(notice));
  const stop = (): void => wakeUp.wake();
  signal.addEventListener('abort', stop);
  const timer = setInterval(() => lanes.notice(), pollMs);
  try {
    while (!signal.aborted) {
      await lanes.fill(() => clock.sync());
      if (!signal.aborted) await wakeUp.wait();
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    await lanes.empty();
    await unsubscribe?.();
  }
}

/** What the lanes of a worker are run with; `wake` has them filled again. */
type LaneSetting = WorkerOptions & {
  claimMs: number;
  concurrency: number;
  wake: () => void;
};

/* How long a free place waits for others, in milliseconds. */
const refillMs = 5;

/** The threads that a worker is running, side by side, and what it knows of others that are due. */
class Lanes {
  readonly #setting: LaneSetting;
  readonly #underway = new Set<Promise<void>>();
  readonly #noticed = new Set<string>();
  /** Whether threads may be due that no notice has named. */
  #mayBeDue = true;
  #refilling: ReturnType<typeof setTimeout> | undefined;

  constructor(setting: LaneSetting) {
    this.#setting = setting;
  }

  get #free(): number {
    return this.#setting.concurrency - this.#underway.size;
  }

  /** Takes in that a thread has changed, or without a notice, that any may have. */
  notice(notice?: ThreadNotice): void {
    const { agent, wake } = this.#setting;
    if (notice === undefined) this.#mayBeDue = true;
    else {
      const { threadId, agent: name, nextDeadline = Infinity } = notice;
      if (name !== agent.name || nextDeadline > agent.now()) return;
      this.#noticed.add(threadId);
    }
    wake();
  }

  /** Claims and begins what is due, as far as there are places. */
  async fill(sync: () => Promise<void>): Promise<void> {
    if (this.#free <= 0) return;
    try {
      await sync();
      await this.#claimNoticed();
      if (this.#mayBeDue && this.#free > 0) await this.#claimAny();
    } catch (error) {
      void callGuarded(this.#setting.onError, error);
    }
  }

  /** Resolves when nothing is running any more. */
  async empty(): Promise<void> {
    await Promise.all(this.#underway);
    clearTimeout(this.#refilling);
  }

  async #claimNoticed(): Promise<void> {
    for (const threadId of this.#noticed) {
      /* The rest is found by its deadline when there is a place again. */
      if (this.#free <= 0) this.#mayBeDue = true;
      this.#noticed.delete(threadId);
      if (this.#free > 0) this.#begin(await this.#claim({ threadId, limit: 1 }));
    }
  }

  async #claimAny(): Promise<void> {
    const limit = this.#free;
    this.#mayBeDue = false;
    const claimed = await this.#claim({ limit });
    this.#mayBeDue ||= claimed.length === limit;
    this.#begin(claimed);
  }

  async #claim(what: { threadId?: string; limit: number }): Promise<ThreadSummary[]> {
    const { store, agent, claimMs } = this.#setting;
    const at = agent.now();
    return store.claim({
      ...what,
      agent: agent.name ?? null,
      dueBefore: at + 1,
      until: at + claimMs,
    });
  }

  #begin(claimed: readonly ThreadSummary[]): void {
    for (const summary of claimed) {
      const running = this.#run(summary).finally(() => {
        this.#underway.delete(running);
        if (this.#mayBeDue || this.#noticed.size > 0) this.#refill();
      });
      this.#underway.add(running);
    }
  }

  /** Fills the places when half of them are free, or in a moment: several threads are claimed at the price of one. */
  #refill(): void {
    const { concurrency, wake } = this.#setting;
    clearTimeout(this.#refilling);
    if (this.#free * 2 >= concurrency) wake();
    else this.#refilling = setTimeout(wake, refillMs);
  }

  async #run({ threadId, revision }: ThreadSummary): Promise<void> {
    const { agent, signal, onError } = this.#setting;
    try {
      if (signal.aborted) return;
      const thread = await agent.thread(threadId);
      try {
        await agent.run([], thread, { signal, onlyWhenDue: true });
      } finally {
        void this.#report(thread, revision);
      }
    } catch (error) {
      if (!signal.aborted) void callGuarded((each: unknown) => onError?.(each, threadId), error);
    }
  }

  /** Reports what has come to need a person since the thread was claimed. */
  async #report(
    { id: threadId, events, calls, status, failure }: AgentThread,
    revision: number,
  ): Promise<void> {
    const { onIndeterminate, onStuck } = this.#setting;
    const isNew = (call: ToolCallRecord): boolean =>
      events
        .slice(revision)
        .some((event) => event.type === 'call-lost' && isSamePlace(event, call));
    const lost = calls.filter((call) => call.status === 'indeterminate' && isNew(call));
    if (lost.length > 0) await callGuarded(onIndeterminate, { threadId, calls: lost });
    if (status === 'stuck' && failure !== undefined)
      await callGuarded(onStuck, { threadId, failure });
  }
}
