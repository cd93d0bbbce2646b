import type { ThreadStore } from './thread-store.ts';

/* How long a reading of the store's clock is good for, in milliseconds: clocks drift by far less than a lease in that time. */
const readingLastsMs = 60_000;

const clocks = new WeakMap<object, StoreClock>();

/** The clock of a store: one for all who use the same store object, so that they agree to the millisecond. */
export function clockOf(store: Pick<ThreadStore, 'now'>): StoreClock {
  const clock = clocks.get(store) ?? new StoreClock(store);
  clocks.set(store, clock);
  return clock;
}

/**
 * The time that a store's threads go by: the store's own, where it has a clock, so that machines whose clocks differ measure leases and
 * deadlines alike. Between two readings it is carried on by this process's own clocks.
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
    return reading === undefined ? Date.now() : Math.round(reading.time + elapsedSince(reading));
  };

  /** Reads the store's clock, where it has one and the last reading is old. To be awaited before the time matters. */
  async sync(): Promise<void> {
    const reading = this.#reading;
    const isFresh = reading !== undefined && elapsedSince(reading) < readingLastsMs;
    if (isFresh || this.#store.now === undefined) return;
    const begin = performance.now();
    const time = await this.#store.now();
    /* Half of the way there and back: as good a guess as any, and off by less than the way. */
    const at = (begin + performance.now()) / 2;
    this.#reading = { time, at, date: Date.now() };
  }
}

/*
 * The monotonic clock stands still while a machine sleeps, and the other may be set: of the two the later, as a lease that seems over
 * too early does no harm.
 */
function elapsedSince({ at, date }: { at: number; date: number }): number {
  return Math.max(performance.now() - at, Date.now() - date);
}
