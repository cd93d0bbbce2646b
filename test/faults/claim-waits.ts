import { pollMs } from './claim-schedules.ts';
import type { ThreadNotice } from '../../src/thread/thread-store.ts';

/* More than a worker takes for all the claims that it may make before the one that finds what is due. */
const slackMs = 250;

/* The longest that a worker lets others come first, and then takes for its claims. */
const turnsMs = 350;

/** A worker that has room for another thread. */
interface FreeWorker {
  skewMs: number;
  since: number;
}

/** When a thread is due, as the store has had it for a while. */
interface Deadline {
  nextDeadline: number | undefined;
  since: number;
}

/** Finds threads that were due for longer than a poll, or than all turns, while a worker had room for them, and knew of them. */
export class ClaimWaits {
  readonly faults = new Set<string>();
  readonly #now: () => number;
  readonly #deadlines = new Map<string, Deadline>();
  readonly #free = new Map<string, FreeWorker>();
  /** By worker, the due threads that it has heard of, and when, as long as it has heard of no claim. */
  readonly #heard = new Map<string, Map<string, number>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes when a thread is due from now on. */
  setDeadline(threadId: string, nextDeadline: number | undefined): void {
    this.judge();
    this.#deadlines.set(threadId, { nextDeadline, since: this.#now() });
    for (const heard of this.#heard.values()) heard.delete(threadId);
  }

  /** Notes that a worker hears that a thread is due. */
  addNotice(worker: string, { threadId, nextDeadline }: ThreadNotice): void {
    const isNews = this.#deadlines.get(threadId)?.nextDeadline === nextDeadline;
    const heard = this.#heard.get(worker) ?? new Map<string, number>();
    if (isNews && nextDeadline === 0 && !heard.has(threadId)) heard.set(threadId, this.#now());
    this.#heard.set(worker, heard);
  }

  /** Notes that a worker hears of a claim, or makes it. */
  addClaim(worker: string, threadId: string): void {
    this.judge();
    this.#heard.get(worker)?.delete(threadId);
  }

  /** Notes that a worker could not claim what it had heard of. */
  addFailure(worker: string): void {
    this.judge();
    this.#heard.delete(worker);
  }

  /** Notes that a worker has room from now on; also of one that had, and could not claim. */
  setFree(worker: string, skewMs: number): void {
    this.judge();
    this.#free.set(worker, { skewMs, since: this.#now() });
  }

  /** Notes that a worker is full, or gone. */
  setBusy(worker: string): void {
    this.judge();
    this.#free.delete(worker);
  }

  /** Judges how long threads have waited until now. */
  judge(): void {
    for (const [worker, free] of this.#free) {
      for (const [threadId, since] of this.#heard.get(worker) ?? []) {
        if (this.#now() - Math.max(since, free.since) <= turnsMs) continue;
        this.faults.add(`${worker} knew that ${threadId} was due, and let its turn pass.`);
      }
    }
    for (const [threadId, deadline] of this.#deadlines) {
      for (const [worker, free] of this.#free) {
        const wait = this.#now() - beginOf(deadline, free);
        if (wait <= pollMs + slackMs) continue;
        this.faults.add(`${threadId} was due for longer than a poll, and ${worker} had room.`);
      }
    }
  }
}

/** Since when a worker could have claimed a thread. */
function beginOf({ nextDeadline, since }: Deadline, free: FreeWorker): number {
  const due = nextDeadline === undefined ? Infinity : nextDeadline - free.skewMs;
  return Math.max(due, since, free.since);
}
