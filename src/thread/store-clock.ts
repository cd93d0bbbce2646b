import type { ThreadStore } from './thread-store.ts';

/* The time for which a reading of the store's clock is used, in milliseconds. In that time clocks drift by far less than a lease. */
const readingLastsMs = 60_000;

const clocks = new WeakMap<object, StoreClock>();

/** The clock of a store. All users of a store object share one, so that they agree to the millisecond. */
export function findClock(store: Pick<ThreadStore, 'now'>): StoreClock {
  const clock = clocks.get(store) ?? new StoreClock(store);
  clocks.set(store, clock);
  return clock;
}

/**
 * The time for the threads of a store: the store's own clock, if it has one, so that machines whose clocks differ agree on leases and
 * deadlines. Between readings it is advanced by the clocks of this process.
 */
export class StoreClock {
  readonly #store: Pick<ThreadStore, 'now'>;
  #reading: { time: number; at: number; date: number } | undefined;

  constructor(store: Pick<ThreadStore, 'now'>) {
    this.#store = store;
  }

  /** Milliseconds since 1970. */
  readonly now = (): number => {
    const reading = this.#reading;
    return reading === undefined ? Date.now() : Math.round(reading.time + measureElapsed(reading));
  };

  /** Reads the store's clock, if it has one and the last reading is old. Await this before using `now`. */
  sync(): Promise<void> | undefined {
    const reading = this.#reading;
    const isFresh = reading !== undefined && measureElapsed(reading) < readingLastsMs;
    return isFresh || this.#store.now === undefined ? undefined : this.#read(this.#store.now());
  }

  async #read(now: Promise<number>): Promise<void> {
    const begin = performance.now();
    const time = await now;
    /* Halfway between request and reply: the error is less than the round trip. */
    const at = (begin + performance.now()) / 2;
    this.#reading = { time, at, date: Date.now() };
  }
}

/*
 * The monotonic clock stops while a machine sleeps, and the wall clock may be set. The later of the two counts, because it does no harm
 * if a lease seems to expire too early.
 */
function measureElapsed({ at, date }: { at: number; date: number }): number {
  return Math.max(performance.now() - at, Date.now() - date);
}
