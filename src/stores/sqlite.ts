import type { LogEnd, StoreNotice, ThreadStore } from '../thread/thread-store.ts';
import { sqliteSchema, sqliteStoreOn } from './sqlite-on.ts';
import { SqliteFile } from './sqlite/sqlite-file.ts';
import { makeNotice, Notices } from './rows/notices.ts';

/** A store in a SQLite file. */
export interface SqliteStore extends ThreadStore, Disposable {
  /**
   * Reports appends of other processes within about 50 ms. One timer serves all subscribers, and keeps the process alive until the last
   * subscription ends or the store is closed. The listener must not throw.
   */
  subscribe(listener: (notice?: StoreNotice) => void): () => Promise<void>;
  /**
   * Deletes the thread, overwrites its entries in the file, and empties the write-ahead log; if another process is reading or writing,
   * the log is emptied by the next append or `close`. Because SQLite moves rows, fragments or the thread's id may remain in unused parts
   * of pages; run `vacuum` to remove them. Backups are not changed.
   * A standing approval that is revoked is deleted in the same way; one that was made in the thread outlives it.
   */
  delete(threadId: string, expected: LogEnd): Promise<void>;
  /** Closes the file and ends all subscriptions; the store can't be used afterwards. */
  close(): void;
}

type SqliteStoreOnOptions = NonNullable<Parameters<typeof sqliteStoreOn>[1]>;

/** Options for opening a SQLite file. */
interface SqliteStoreOptions extends Omit<
  SqliteStoreOnOptions,
  'createSchema' | 'snapshots' | 'requests'
> {
  /** True if open and decided requests are kept as rows, with a feed of their changes. Default true. */
  requests?: boolean;
  /** The time to wait while another process writes, in milliseconds. Default 10,000. */
  busyTimeoutMs?: number;
}

/**
 * Keeps threads in a SQLite file, with Node's `node:sqlite`. An append that has resolved survives a crash of the process and of the machine
 * (`synchronous=full`). Any number of processes on one machine may share the file.
 *
 * @example
 * const agent = createAgent({ model, tools, store: sqliteStore('threads.sqlite') });
 */
export function sqliteStore(
  path: string,
  { busyTimeoutMs = 10_000, ...options }: SqliteStoreOptions = {},
): SqliteStore {
  const file = new SqliteFile(path, sqliteSchema, busyTimeoutMs);
  const subscribers = new Subscribers(() => file.version());
  const close = (): void => {
    subscribers.close();
    file.close();
  };
  const { grants, requests, deletion, ...store } = sqliteStoreOn(file, {
    ...options,
    createSchema: false,
    snapshots: true,
  });
  return {
    ...store,

    async append(threadId, expected, entries, summary, beside) {
      await store.append(threadId, expected, entries, summary, beside);
      const notice = makeNotice({ ...summary, threadId }, beside?.requests);
      if (notice !== undefined) subscribers.notify(notice);
    },

    async delete(threadId, expected) {
      await store.delete(threadId, expected);
      file.truncateLog();
    },

    deletion: {
      ...deletion,
      async delete(groups) {
        const deleted = await deletion.delete(groups);
        if (deleted.length > 0) file.truncateLog();
        return deleted;
      },
    },

    grants: {
      ...grants,
      async revoke(grantId) {
        const existed = await grants.revoke(grantId);
        if (existed) file.truncateLog();
        return existed;
      },
    },

    ...(requests === undefined
      ? {}
      : {
          requests: {
            ...requests,
            async erase(requestId) {
              const isErased = await requests.erase(requestId);
              if (isErased) file.truncateLog();
              return isErased;
            },
          },
        }),

    subscribe: (listener) => subscribers.add(listener),
    close,
    [Symbol.dispose]: close,
  };
}

/** The interval between checks for writes of other processes, in milliseconds. */
const intervalMs = 50;

type Listener = (notice?: StoreNotice) => void;

/**
 * The subscribers of a store. They receive notices of its own appends at once, and are called without a notice when another connection has
 * written to the file: one timer, shared by all subscribers, compares the file's version.
 */
class Subscribers {
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
  notify(notice?: StoreNotice): void {
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
