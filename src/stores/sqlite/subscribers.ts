import type { ThreadNotice } from '../../thread/thread-store.ts';
import { Notices } from '../sql/notices.ts';

/** How often to check for writes of other processes, in milliseconds. */
const intervalMs = 50;

type Listener = (notice?: ThreadNotice) => void;

/**
 * The subscribers of a store. They receive notices of its own appends at once, and are called without a notice when another connection has
 * written to the file: one timer, shared by all subscribers, compares the file's version.
 */
export class Subscribers {
  readonly #readVersion: () => number | undefined;
  readonly #notices = new Notices();
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
    const unsubscribe = this.#notices.subscribe(listener);
    if (this.#timer === undefined) {
      this.#version = this.#readVersion();
      this.#timer = setInterval(() => this.#compare(), intervalMs);
    }
    return async () => {
      unsubscribe();
      if (!this.#notices.hasSubscribers) this.#stop();
    };
  }

  /** Notifies every subscriber of an append. */
  notify(notice?: ThreadNotice): void {
    this.#notices.notify(notice);
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#isClosed = true;
    this.#notices.end();
    this.#stop();
  }

  #compare(): void {
    const version = this.#readVersion();
    if (version === this.#version) return;
    this.#version = version;
    this.#notices.notify();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
