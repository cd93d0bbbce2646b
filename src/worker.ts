import type { Agent } from './agent/agent.ts';
import { ClaimTurns } from './worker/claim-turns.ts';
import { callGuarded } from './content/app-errors.ts';
import { checkMs } from './content/check-settings.ts';
import type { ToolCallRecord } from './content/tool-call.ts';
import { WakeUp } from './content/waiting.ts';
import type { AgentThread } from './thread/agent-thread.ts';
import { findClock } from './thread/store-clock.ts';
import { isSamePlace, type RunFailure } from './thread/thread-head.ts';
import type { ThreadNotice, ThreadStore, ThreadSummary } from './thread/thread-store.ts';

export { type ResumedThread, resumeThread } from './agent/resume-thread.ts';
export {
  type DeletedThreads,
  deleteThreads,
  type DeleteThreadsOptions,
} from './worker/delete-threads.ts';

/** Options of `runWorker`. */
export interface WorkerOptions {
  /** The agent whose threads are run; it must use the same `store`. Threads of agents with other names are not claimed. */
  agent: Pick<Agent, 'name' | 'now' | 'thread' | 'run'>;
  /** The store whose threads the worker runs. */
  store: Pick<ThreadStore, 'claim' | 'subscribe' | 'claims' | 'now'>;
  /** Ends the worker, aborts its current runs with the signal's reason, and gives back what it has claimed and not begun. */
  signal: AbortSignal;
  /** How often the store is polled for due threads if no notice arrives, in milliseconds. Default 1,000. */
  pollMs?: number;
  /**
   * How long a claim lasts if nothing is appended to the thread, in milliseconds: a worker that crashes before it runs the thread, or
   * can't open it, delays the thread by this time. Default 30,000.
   */
  claimMs?: number;
  /** How many threads the worker runs at once. Default 4. */
  concurrency?: number;
  /** Called with an error of a run or of the store. Errors that it throws or rejects with are ignored. */
  onError?: (error: unknown, threadId?: string) => unknown;
  /**
   * Called once when this worker finds calls that were started but whose outcome is unknown. Find out what happened and call
   * `agent.settle`; the thread waits until then. Errors that it throws or rejects with are ignored.
   */
  onIndeterminate?: (lost: { threadId: string; calls: readonly ToolCallRecord[] }) => unknown;
  /**
   * Called when a thread has failed too often in a row and is not retried automatically. Errors that it throws or rejects with are ignored.
   */
  onStuck?: (stuck: { threadId: string; failure: Readonly<RunFailure> }) => unknown;
}

/**
 * Runs every due thread of the agent until `signal` aborts: `respond` recorded an answer, `deliver` recorded an outcome, a request
 * expired, a process crashed, or a failed run is retried. Any number of workers may share a store: each claims a few threads at a time. A
 * long run occupies one slot of `concurrency` and does not delay the others. Threads that are stuck, that are indeterminate, or whose
 * run reached `maxSteps` are not run; run or settle them yourself. Rejects with a `TypeError` for invalid options, and if the store's
 * `subscribe` throws.
 *
 * @example
 * await runWorker({ agent, store, signal: AbortSignal.timeout(60_000) });
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { store, signal, pollMs = 1_000, claimMs = 30_000, concurrency = 4 } = options;
  checkMs(pollMs, 'pollMs');
  checkMs(claimMs, 'claimMs');
  if (!(concurrency >= 1))
    throw new TypeError(`concurrency must be 1 or more; got ${concurrency}.`);
  const clock = findClock(store);
  const wakeUp = new WakeUp();
  const slots = new WorkerSlots({
    ...options,
    claimMs,
    concurrency,
    wake: () => wakeUp.wake(),
  });
  const unsubscribe = slots.subscribe();
  const stop = (): void => wakeUp.wake();
  signal.addEventListener('abort', stop);
  const timer = setInterval(() => slots.notice(), pollMs);
  try {
    while (!signal.aborted) {
      await slots.fill(async () => clock.sync());
      if (!signal.aborted) await wakeUp.wait();
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', stop);
    await slots.drain();
    await unsubscribe();
  }
}

/** The options of a worker's slots; `wake` makes the worker fill them again. */
type SlotOptions = WorkerOptions & {
  claimMs: number;
  concurrency: number;
  wake: () => void;
};

/* How long a free slot waits for others to become free, in milliseconds. */
const refillMs = 5;

/** The threads that a worker runs concurrently, and what it knows of other due threads. */
class WorkerSlots {
  readonly #options: SlotOptions;
  readonly #running = new Set<Promise<void>>();
  /** The threads that this worker is to claim. */
  readonly #noticed = new Set<string>();
  readonly #turns = new ClaimTurns((threadId) => this.#takeTurn(threadId));
  /** Whether threads may be due for which there was no notice. */
  #mayBeDue = true;
  /** Whether this worker has told the others that it can claim more. */
  #toldFree = false;
  #refilling: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get #free(): number {
    return this.#options.concurrency - this.#running.size;
  }

  /** Subscribes to the store. Returns a function that ends the subscriptions. */
  subscribe(): () => Promise<void> {
    const { store, agent } = this.#options;
    const ends = [
      store.subscribe?.((notice) => this.notice(notice)),
      store.claims?.subscribe((notice) => {
        if (notice.agent === agent.name) this.#turns.addClaim(notice);
      }),
    ];
    this.#tellClaim(true);
    return async () => {
      await Promise.all(ends.map(async (end) => end?.()));
    };
  }

  /** Notes that a thread has changed; without a notice, that any thread may have. */
  notice(notice?: ThreadNotice): void {
    const { agent, wake } = this.#options;
    if (notice === undefined) {
      this.#mayBeDue = true;
      return wake();
    }
    const { threadId, agent: name, nextDeadline = Infinity } = notice;
    if (name === agent.name && nextDeadline <= agent.now()) this.#turns.addDue(threadId);
  }

  /** A thread without a free slot is claimed by its deadline later, by this worker or one with a free slot. */
  #takeTurn(threadId: string): void {
    if (this.#free <= 0) this.#mayBeDue = true;
    else {
      this.#noticed.add(threadId);
      this.#options.wake();
    }
  }

  /** Tells the other workers whether this worker can claim more, and which thread it has claimed, if any. */
  #tellClaim(isFree: boolean, threadId?: string): void {
    const { store, agent } = this.#options;
    this.#toldFree = isFree;
    store.claims?.send({
      worker: this.#turns.worker,
      isFree,
      ...(agent.name === undefined ? {} : { agent: agent.name }),
      ...(threadId === undefined ? {} : { threadId }),
    });
  }

  /** Claims and runs due threads while there are free slots. */
  async fill(sync: () => Promise<void>): Promise<void> {
    if (this.#free <= 0) return;
    try {
      await sync();
      await this.#claimNoticed();
      if (this.#mayBeDue && this.#free > 0) await this.#claimAny();
      const isFree = this.#free > 0;
      if (isFree !== this.#toldFree) this.#tellClaim(isFree);
    } catch (error) {
      void callGuarded(this.#options.onError, error);
    }
  }

  /** Resolves when all runs have ended. */
  async drain(): Promise<void> {
    this.#turns.end();
    this.#tellClaim(false);
    await Promise.all(this.#running);
    clearTimeout(this.#refilling);
  }

  async #claimNoticed(): Promise<void> {
    for (const threadId of this.#noticed) {
      this.#noticed.delete(threadId);
      if (this.#free <= 0) this.#mayBeDue = true;
      else {
        this.#start(await this.#claim({ threadId, limit: 1 }));
        this.#tellClaim(this.#free > 0, threadId);
      }
    }
  }

  async #claimAny(): Promise<void> {
    const limit = this.#free;
    this.#mayBeDue = false;
    const claimed = await this.#claim({ limit });
    this.#mayBeDue ||= claimed.length === limit;
    this.#start(claimed);
  }

  async #claim(selection: { threadId?: string; limit: number }): Promise<ThreadSummary[]> {
    const { store, agent, claimMs } = this.#options;
    const at = agent.now();
    return store.claim({
      ...selection,
      agent: agent.name ?? null,
      dueBefore: at + 1,
      until: at + claimMs,
    });
  }

  #start(claimed: readonly ThreadSummary[]): void {
    for (const summary of claimed) {
      const run = this.#run(summary).finally(() => {
        this.#running.delete(run);
        if (this.#mayBeDue || this.#noticed.size > 0 || !this.#toldFree) this.#refill();
      });
      this.#running.add(run);
    }
  }

  /** Fills the slots at once if half of them are free, otherwise after a moment, so that one claim gets several threads. */
  #refill(): void {
    const { concurrency, wake } = this.#options;
    clearTimeout(this.#refilling);
    if (this.#free * 2 >= concurrency) wake();
    else this.#refilling = setTimeout(wake, refillMs);
  }

  async #run(claimed: ThreadSummary): Promise<void> {
    const { agent, signal, onError } = this.#options;
    const { threadId, revision } = claimed;
    let reached = revision;
    try {
      signal.throwIfAborted();
      const thread = await agent.thread(threadId);
      try {
        await agent.run([], thread, { abortSignal: signal, onlyWhenDue: true });
      } finally {
        reached = thread.revision;
        void this.#report(thread, revision);
      }
    } catch (error) {
      if (!signal.aborted) void callGuarded((each: unknown) => onError?.(each, threadId), error);
      else if (reached === revision) await this.#giveBack(claimed);
    }
  }

  /** Ends the claim of a thread that this worker has not begun to run, so that others need not wait for the claim's time to be over. */
  async #giveBack({ threadId, nextDeadline: until = 0 }: ThreadSummary): Promise<void> {
    const { store, agent } = this.#options;
    const selection = { threadId, agent: agent.name ?? null, dueBefore: until + 1, limit: 1 };
    await store.claim({ ...selection, until: agent.now() }).catch(() => {});
  }

  /** Reports what needs a person's attention and happened since the thread was claimed. */
  async #report(
    { id: threadId, events, calls, status, failure }: AgentThread,
    revision: number,
  ): Promise<void> {
    const { onIndeterminate, onStuck } = this.#options;
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
