import type { FeedChange, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';

/* The first step of the search for the end of the feed. */
const firstStep = 64;

/** The feed of changes of a store. */
export class FeedReader {
  readonly #requests: Pick<ThreadStoreRequests, 'changes'>;
  /* Reads that have not begun. */
  readonly #asked = new Map<string, Promise<FeedChange[]>>();
  /* A position that the feed has reached. */
  #known = 0;

  constructor(requests: Pick<ThreadStoreRequests, 'changes'>) {
    this.#requests = requests;
  }

  /**
   * Reads the changes after a position, oldest first. All streams wake at each change, and most are at the same position: simultaneous
   * callers share one read. It begins after all of them have called, so that it includes the change that woke them.
   */
  async read(after: number, limit: number): Promise<FeedChange[]> {
    const key = `${after} ${limit}`;
    const asked = this.#asked.get(key) ?? this.#readNext(key, { after, limit });
    this.#asked.set(key, asked);
    return asked;
  }

  async #readNext(key: string, query: { after: number; limit: number }): Promise<FeedChange[]> {
    await Promise.resolve();
    this.#asked.delete(key);
    return this.#requests.changes(query);
  }

  /**
   * Finds the position of the latest change, 0 without one. A feed is read forwards and may be long: the search starts at the last known
   * end, in steps that double, and then between the last two.
   */
  async findEnd(): Promise<number> {
    let low = this.#known;
    if ((await this.#findAfter(low)) === undefined) return low;
    let step = firstStep;
    for (;;) {
      const next = await this.#findAfter(low + step);
      if (next === undefined) break;
      low = next;
      step *= 2;
    }
    let high = low + step;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const next = await this.#findAfter(middle);
      if (next === undefined) high = middle;
      else low = next;
    }
    this.#known = low;
    return low;
  }

  async #findAfter(position: number): Promise<number | undefined> {
    const [next] = await this.read(position, 1);
    return next?.position;
  }
}
