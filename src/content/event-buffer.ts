/**
 * Passes events from a run to its reader, at the reader's pace: a producer that awaits `ready` is never ahead of the reader. Events that
 * are pushed without awaiting it are buffered. Without a reader nothing is buffered.
 */
export class EventBuffer<EVENT> {
  readonly #kept: EVENT[] = [];
  readonly #readers: ((result: IteratorResult<EVENT, undefined>) => void)[] = [];
  #waiting: (() => void)[] = [];
  #isRead = false;
  #isClosed = false;

  /** Begins to buffer, for a reader. */
  open(): void {
    this.#isRead = true;
  }

  /** The next event, or the end. */
  next(): Promise<IteratorResult<EVENT, undefined>> {
    const value = this.#kept.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isClosed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#readers.push(resolve);
      this.#release();
    });
  }

  push(event: EVENT): void {
    if (this.#isRead && !this.#isClosed) this.#give(event);
  }

  /** Pushes an event. It replaces a buffered event that it makes obsolete. */
  pushLatest(event: EVENT, isObsolete: (kept: EVENT) => boolean): void {
    const index = this.#kept.findIndex(isObsolete);
    if (index === -1) this.push(event);
    else this.#kept[index] = event;
  }

  /** Resolves when the reader waits for the next event; no promise if it does, or when there is no reader. */
  ready(): Promise<void> | undefined {
    if (!this.#isRead || this.#isClosed || this.#readers.length > 0) return undefined;
    return new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Ends the buffer, with a last event that is kept even without a reader. */
  close(last: EVENT): void {
    if (this.#isClosed) return;
    this.#give(last);
    this.#end();
  }

  /** Ends the buffer at once and discards its events, because the reader has left. */
  drop(): void {
    this.#kept.length = 0;
    this.#end();
  }

  #give(event: EVENT): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.#kept.push(event);
    else reader({ done: false, value: event });
  }

  #end(): void {
    this.#isClosed = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
    this.#release();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
