import type { ThreadNotice } from '../../thread/thread-store.ts';

/** How often to check for writes of other processes, in milliseconds. */
const intervalMs = 50;

type Listener = (notice?: ThreadNotice) => void;

/**
 * The subscribers of a store. They receive notices of its own appends at once, and are called without a notice when another connection has
 * written to the file: one timer, shared by all subscribers, compares the file's version.
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

  /** Returns a function that ends the subscription. */
  add(listener: Listener): () => Promise<void> {
    if (this.#isClosed)
      throw new Error('This store is closed. Open the file again with sqliteStore.');
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

  /** Calls every listener in a microtask, so that one that throws does not make an append fail. */
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
