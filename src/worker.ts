import { type Agent, findDoor } from './agent.ts';
import { ClaimTurns } from './worker/claim-turns.ts';
import { callGuarded } from './content/app-errors.ts';
import { checkMethods, checkMs } from './content/check-settings.ts';
import { WakeUp } from './content/waiting.ts';
import type { AgentThread } from './thread/agent-thread.ts';
import { findClock } from './thread/store-clock.ts';
import type { RunFailure } from './thread/thread-head.ts';
import type { StoreNotice, ThreadStore, ThreadSummary } from './thread/thread-store.ts';
import { type Lost, LostCalls } from './worker/lost-calls.ts';

export { resumeThread } from './agent.ts';
export { deleteThreads } from './worker/delete-threads.ts';

/** The part of a store that a worker uses. */
type WorkedStore = Pick<ThreadStore, 'claim' | 'list' | 'subscribe' | 'send' | 'now'>;

/** Options of `runWorker`. */
interface WorkerOptions {
  /** The agent whose threads are run. Threads of agents with other names are not claimed. */
  agent: Pick<Agent, 'name' | 'now' | 'thread' | 'run'>;
  /** The agent's store. Needed only for an object of your own around an agent. */
  store?: WorkedStore;
  /** Ends the worker, aborts its current runs with the signal's reason, and returns the claimed threads that it has not begun. */
  signal: AbortSignal;
  /** The interval of polls for due threads if no notice arrives, in milliseconds. Default 1,000. */
  pollMs?: number;
  /**
   * The lifetime of a claim if nothing is appended to the thread, in milliseconds: a worker that crashes before it runs the thread, or
   * can't open it, delays the thread by this time. Default 30,000.
   */
  claimMs?: number;
  /** The number of threads that the worker runs at once. Default 4. */
  concurrency?: number;
  /** Called with an error of a run or of the store. Errors that it throws or rejects with are ignored. */
  onError?: (error: unknown, threadId?: string) => unknown;
  /**
   * Called with calls that were started but whose outcome is unknown. Find out what happened and call `agent.settle`; the thread waits
   * until then. Each call is reported at least once: each worker reports it once, immediately if it finds it, within `claimMs` if another
   * process has, and a worker that starts reports unsettled calls. Errors that it throws or rejects with are ignored.
   */
  onIndeterminate?: (lost: Lost) => unknown;
  /**
   * Called when a thread has failed too often in a row and is not retried automatically. Errors that it throws or rejects with are ignored.
   */
  onStuck?: (stuck: { threadId: string; failure: Readonly<RunFailure> }) => unknown;
}

/**
 * Runs every due thread of the agent until `signal` aborts: `respond` recorded an answer, `deliver` recorded an outcome, a request expired,
 * a process crashed, or a failed run is retried. Any number of workers may share a store: each claims a few threads at a time. A long run
 * occupies one slot of `concurrency` and does not delay the others. Threads that are stuck, that are indeterminate, or whose run reached
 * `maxSteps` are not run; run or settle them yourself. Rejects with a `TypeError` for invalid options, such as another `store` than the
 * agent's, and if the store's `subscribe` throws.
 *
 * @example
 * await runWorker({ agent, signal: AbortSignal.timeout(60_000) });
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { agent, signal, pollMs = 1_000, claimMs = 30_000, concurrency = 4 } = options;
  checkMethods(agent, ['thread', 'run'], 'runWorker needs an agent');
  checkMethods(signal, ['addEventListener'], 'runWorker needs a signal, which ends it');
  const store = findWorkedStore(options);
  checkMs(pollMs, 'pollMs');
  checkMs(claimMs, 'claimMs');
  if (!(concurrency >= 1))
    throw new TypeError(`concurrency must be 1 or more; got ${concurrency}.`);
  const clock = findClock(store);
  const wakeUp = new WakeUp();
  const lost = new LostCalls({ ...options, store });
  const slots = new WorkerSlots({
    ...options,
    store,
    claimMs,
    concurrency,
    lost,
    wake: () => wakeUp.wake(),
  });
  const unsubscribe = slots.subscribe();
  const stop = (): void => wakeUp.wake();
  signal.addEventListener('abort', stop);
  const timer = setInterval(() => slots.notice(), pollMs);
  const lostTimer = setInterval(() => lost.find(), claimMs);
  lost.find();
  try {
    while (!signal.aborted) {
      await slots.fill(async () => clock.sync());
      if (!signal.aborted) await wakeUp.wait();
    }
  } finally {
    clearInterval(timer);
    clearInterval(lostTimer);
    signal.removeEventListener('abort', stop);
    await slots.drain();
    await lost.end();
    await unsubscribe();
  }
}

/** Finds the agent's store. A worker on another one would never find anything to do, without an error. */
function findWorkedStore({ agent, store }: WorkerOptions): WorkedStore {
  const own = findDoor(agent)?.store;
  const worked: WorkedStore | undefined = store ?? own;
  if (worked === undefined)
    throw new TypeError(
      'runWorker needs the store of this agent, as the agent is an object of your own around one.',
    );
  checkMethods(worked, ['claim'], 'runWorker needs a store');
  if (own === undefined || own === worked) return worked;
  throw new TypeError(
    "runWorker's store is not its agent's, so it has none of the agent's threads. Leave out store, or create the agent with this store.",
  );
}

/** The options of a worker's slots; `wake` makes the worker fill them again. */
type SlotOptions = WorkerOptions & {
  store: WorkedStore;
  claimMs: number;
  concurrency: number;
  lost: LostCalls;
  wake: () => void;
};

/* The time for which a free slot waits for others to become free, in milliseconds. */
const refillMs = 5;

/** The threads that a worker runs concurrently, and its knowledge of other due threads. */
class WorkerSlots {
  readonly #options: SlotOptions;
  readonly #running = new Set<Promise<void>>();
  /** The threads that this worker must claim. */
  readonly #noticed = new Set<string>();
  readonly #turns = new ClaimTurns((threadId) => this.#takeTurn(threadId));
  /** True if threads may be due for which there was no notice. */
  #mayBeDue = true;
  /** True if this worker has notified the others that it can claim more. */
  #toldFree = false;
  #refilling: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SlotOptions) {
    this.#options = options;
  }

  get #free(): number {
    return this.#options.concurrency - this.#running.size;
  }

  /** Subscribes to the store. Returns a function that ends the subscription. */
  subscribe(): () => Promise<void> {
    const { store } = this.#options;
    const end = store.subscribe?.((notice) => this.notice(notice));
    this.#tellClaim(true);
    return async () => end?.();
  }

  /** Handles a notice of a changed thread, or of another worker's claims; without a notice, any thread may have changed. */
  notice(notice?: StoreNotice): void {
    const { agent, wake } = this.#options;
    if (notice === undefined) {
      this.#mayBeDue = true;
      return wake();
    }
    if (notice.agent !== agent.name) return;
    if (notice.type === 'claim') return this.#turns.addClaim(notice);
    const { threadId, nextDeadline = Infinity } = notice;
    if (nextDeadline <= agent.now()) this.#turns.addDue(threadId);
  }

  /**
   * Takes the turn for a thread. Without a free slot, the thread is claimed later by its deadline, by this worker or one with a free slot.
   */
  #takeTurn(threadId: string): void {
    if (this.#free <= 0) this.#mayBeDue = true;
    else {
      this.#noticed.add(threadId);
      this.#options.wake();
    }
  }

  /** Notifies the other workers whether this worker can claim more, and which thread it has claimed, if any. */
  #tellClaim(isFree: boolean, threadId?: string): void {
    const { store, agent } = this.#options;
    this.#toldFree = isFree;
    store.send?.({
      type: 'claim',
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
        void this.#report(thread);
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

  /** Reports what needs a person's attention. */
  async #report(thread: AgentThread): Promise<void> {
    const { lost, onStuck } = this.#options;
    const { id: threadId, status, failure } = thread;
    await lost.report(thread);
    if (status === 'stuck' && failure !== undefined)
      await callGuarded(onStuck, { threadId, failure });
  }
}
