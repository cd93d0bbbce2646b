import type { ThreadNotice } from '../../thread/thread-store.ts';

/** How often to look for what other processes have written. */
const intervalMs = 50;

type Listener = (notice?: ThreadNotice) => void;

/**
 * Those who subscribed to one store. They get the notices of its own appends at once, and a call without a notice when another
 * connection has written to the file: one timer compares its version, for however many subscribers.
 */
export class Subscribers {
  readonly #readVersion: () => number | undefined;
  readonly #listeners = new Set<{ call: Listener }>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #version: number | undefined;
  #isClosed = false;

  constructor(readVersion: () => number | undefined) {
    this.#readVersion = readVersion;
  }

  /** Returns what ends the subscription. */
  add(listener: Listener): () => Promise<void> {
    if (this.#isClosed) throw new Error('The store is closed.');
    const added = { call: listener };
    this.#listeners.add(added);
    if (this.#timer === undefined) {
      this.#version = this.#readVersion();
      this.#timer = setInterval(() => this.#compare(), intervalMs);
    }
    return async () => {
      this.#listeners.delete(added);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Calls every listener, soon: one that throws must not look like an append that failed. */
  notify(notice?: ThreadNotice): void {
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener.call(notice);
      });
    }
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop();
  }

  #compare(): void {
    const version = this.#readVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.notify();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
