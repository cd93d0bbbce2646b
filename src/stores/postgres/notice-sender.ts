import { waitForTimer } from '../../content/waiting.ts';
import { noticeChannel } from './notice-payloads.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './pool.ts';
import { tableId } from './statements.ts';

const senders = new WeakMap<PostgresPool, NoticeSender>();

/** Sends the notices of a pool. All stores on the pool share it; the first one determines whether its statement is prepared. */
export function shareSender(pool: PostgresPool, { prepare = false }): NoticeSender {
  const sender = senders.get(pool) ?? new NoticeSender(pool, prepare);
  senders.set(pool, sender);
  return sender;
}

/*
 * Sends notices after the commits that they are about. In the transaction of an append, NOTIFY would hold a lock of the whole server until
 * the commit is on disk, so that appends would queue behind each other; a transaction that only notifies waits for no disk. One statement
 * is sent at a time; notices that come meanwhile are sent with the next one.
 */
class NoticeSender {
  readonly #pool: PostgresPool;
  readonly #query: PostgresQuery;
  #waiting: string[] = [];
  #sending: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(pool: PostgresPool, isPrepared: boolean) {
    this.#pool = pool;
    this.#query = isPrepared
      ? { name: 'holdpoint-notify', text: sendNotices }
      : { text: sendNotices };
  }

  /** Resolves when the server has the notice, or could not be reached: polls make up for lost notices. */
  async send(payload: string): Promise<void> {
    this.#waiting.push(payload);
    this.#next ??= this.#sending.then(async () => {
      this.#next = undefined;
      this.#sending = this.#sendWaiting();
      return this.#sending;
    });
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const payloads = this.#waiting;
    this.#waiting = [];
    await settleWithin(longestMs, this.#notify([payloads]));
  }

  /**
   * Rejects also where the pool throws: an error here would keep back all later notices, and fail the append of an answer that is recorded.
   */
  async #notify(values: unknown[]): Promise<PostgresResult> {
    return this.#pool.query({ ...this.#query, values });
  }
}

/* The time for which a statement may delay appends and other notices, in milliseconds: a connection may be cut off without an error. */
const longestMs = 2_000;

/** Resolves when the work has ended in any way, or the time is over. A poll finds changes without a notice. */
async function settleWithin(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  work.then(end, end);
  await waitForTimer(milliseconds, ended.signal);
}

/*
 * A notice names its tables, as all schemas of a database share its channel. An empty payload is not JSON afterwards, and means the same.
 */
const sendNotices = `
  select pg_notify('${noticeChannel}', coalesce('{"table":"' || ${tableId} || '",' || substr(payload, 2), payload))
  from unnest($1::text[]) as notices (payload)`;
