import type { ThreadStore } from '../../thread/thread-store.ts';

/* How many numbers are remembered. */
const maximumKnown = 10_000;

/** Finds the newest of the threads that are numbered from 0, such as `call-x-0`. Remembers what it found. */
export class LatestCalls {
  readonly #store: Pick<ThreadStore, 'head'>;
  readonly #known = new Map<string, number>();

  constructor(store: Pick<ThreadStore, 'head'>) {
    this.#store = store;
  }

  /** The number of the newest thread whose id begins so; -1 if there is none. */
  async find(prefix: string): Promise<number> {
    let newest = this.#known.get(prefix) ?? -1;
    let step = 1;
    while (await this.#exists(prefix, newest + step)) {
      newest += step;
      step *= 2;
    }
    /* It is from `newest`, which exists, to below `end`, which does not. */
    let end = newest + step;
    while (end - newest > 1) {
      const middle = Math.floor((newest + end) / 2);
      if (await this.#exists(prefix, middle)) newest = middle;
      else end = middle;
    }
    this.#remember(prefix, newest);
    return newest;
  }

  async #exists(prefix: string, number: number): Promise<boolean> {
    return (await this.#store.head(`${prefix}-${number}`)) !== undefined;
  }

  #remember(prefix: string, number: number): void {
    this.#known.delete(prefix);
    if (number >= 0) this.#known.set(prefix, number);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maximumKnown && oldest !== undefined) this.#known.delete(oldest);
  }
}
