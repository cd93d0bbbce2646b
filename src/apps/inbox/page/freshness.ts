/** The maximum time between two ticks of a page's clock while it is awake. Hidden pages tick once a minute. */
const longestGapMs = 90_000;

/**
 * Tracks whether the page agrees with the log. After sleep, its content may be hours old, and no key counts before it has read the log
 * again.
 */
export class Freshness {
  #tickedAt: number;
  #doubts = 0;
  #settled = 0;

  constructor(now: number) {
    this.#tickedAt = now;
  }

  /** Records a tick of the page's clock. */
  tick(now: number): void {
    if (this.#hasGap(now)) this.doubt();
    this.#tickedAt = now;
  }

  /** Marks the shown content as possibly old, until the log has been read. */
  doubt(): void {
    this.#doubts += 1;
  }

  /** Call it before reading the log, and `confirm` with its result after. */
  begin(now: number): number {
    this.tick(now);
    return this.#doubts;
  }

  /** Notes that the log was read. It may still be old if the page slept, or doubt arose meanwhile. */
  confirm(begun: number, now: number): void {
    this.tick(now);
    this.#settled = begun;
  }

  isFresh(now: number): boolean {
    return this.#settled === this.#doubts && !this.#hasGap(now);
  }

  /* A clock that was set back counts as a gap too. */
  #hasGap(now: number): boolean {
    return Math.abs(now - this.#tickedAt) > longestGapMs;
  }
}
