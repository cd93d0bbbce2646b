import type { ThreadSummary } from 'holdpoint';
import type { ClaimWaits } from './claim-waits.ts';

/** How many threads a worker has room for, as far as its claims and runs show it. */
export class WorkerRoom {
  readonly name: string;
  readonly #waits: ClaimWaits;
  readonly skewMs: number;
  readonly #concurrency: number;
  readonly #unended = new Map<string, ThreadSummary>();
  #taken = 0;
  #isClosed = false;

  constructor(
    waits: ClaimWaits,
    { name, skewMs, concurrency }: { name: string; skewMs: number; concurrency: number },
  ) {
    this.name = name;
    this.#waits = waits;
    this.skewMs = skewMs;
    this.#concurrency = concurrency;
  }

  /** What it has claimed, without a run that came to its end. */
  get unended(): Iterable<ThreadSummary> {
    return this.#unended.values();
  }

  /** Notes that it can claim from now on, and could not before. */
  open(): void {
    if (!this.#isClosed && this.#taken < this.#concurrency)
      this.#waits.setFree(this.name, this.skewMs);
  }

  take(claimed: readonly ThreadSummary[]): void {
    for (const summary of claimed) this.#unended.set(summary.threadId, summary);
    this.#taken += claimed.length;
    if (this.#taken >= this.#concurrency) this.#waits.setBusy(this.name);
  }

  end(threadId: string): void {
    this.#unended.delete(threadId);
  }

  release(): void {
    const wasFull = this.#taken >= this.#concurrency;
    this.#taken -= 1;
    if (wasFull) this.open();
  }

  /** Notes that it claims nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#waits.setBusy(this.name);
  }
}
