/** How far apart two ticks of a page's clock are at most while it is awake. Hidden pages tick once a minute. */
const longestGapMs = 90_000;

/** Whether the page agrees with the log. After sleep, what it shows may be hours old, and no key counts before it has read the log again. */
export class Freshness {
  #tickedAt: number;
  #doubts = 0;
  #settled = 0;

  constructor(now: number) {
    this.#tickedAt = now;
  }

  /** The page's clock goes on. */
  tick(now: number): void {
    if (this.#hasGap(now)) this.doubt();
    this.#tickedAt = now;
  }

  /** What is shown may be old, until the log has been read. */
  doubt(): void {
    this.#doubts += 1;
  }

  /** Call it before the log is read, and `confirm` with what it gives after. */
  begin(now: number): number {
    this.tick(now);
    return this.#doubts;
  }

  /** The log was read. It may be old all the same: if the page slept, or doubt arose meanwhile. */
  confirm(begun: number, now: number): void {
    this.tick(now);
    this.#settled = begun;
  }

  isFresh(now: number): boolean {
    return this.#settled === this.#doubts && !this.#hasGap(now);
  }

  /* A clock that was put back says as little. */
  #hasGap(now: number): boolean {
    return Math.abs(now - this.#tickedAt) > longestGapMs;
  }
}
