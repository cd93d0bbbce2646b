import { waitForTimer } from '../../content/waiting.ts';
import { channels } from './notice-payloads.ts';
import type { PostgresPool, PostgresQuery, PostgresResult } from './pool.ts';
import { tableId } from './statements.ts';

type Channel = (typeof channels)[keyof typeof channels];

const senders = new WeakMap<PostgresPool, NoticeSender>();

/** What sends the notices of a pool. All stores on the pool share it; the first one says whether its statement is prepared. */
export function shareSender(pool: PostgresPool, { prepare = false }): NoticeSender {
  const sender = senders.get(pool) ?? new NoticeSender(pool, prepare);
  senders.set(pool, sender);
  return sender;
}

/*
 * Sends notices after the commits that they are about. In the transaction of an append, NOTIFY would hold a lock of the whole server until the
 * commit is on disk, so that appends would queue behind each other; a transaction that only notifies waits for no disk. One statement is sent
 * at a time, and what comes meanwhile goes with the next one.
 */
class NoticeSender {
  readonly #pool: PostgresPool;
  readonly #query: PostgresQuery;
  #waiting: { channels: Channel[]; payloads: string[] } = { channels: [], payloads: [] };
  #sending: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(pool: PostgresPool, isPrepared: boolean) {
    this.#pool = pool;
    this.#query = isPrepared
      ? { name: 'holdpoint-notify', text: sendNotices }
      : { text: sendNotices };
  }

  /** Resolves when the server has the notice, or could not be told: polls make up for what is lost. */
  async send(channel: Channel, payload: string): Promise<void> {
    this.#waiting.channels.push(channel);
    this.#waiting.payloads.push(payload);
    this.#next ??= this.#sending.then(async () => {
      this.#next = undefined;
      this.#sending = this.#sendWaiting();
      return this.#sending;
    });
    return this.#next;
  }

  async #sendWaiting(): Promise<void> {
    const { channels: names, payloads } = this.#waiting;
    this.#waiting = { channels: [], payloads: [] };
    await settleWithin(longestMs, this.#notify([names, payloads]));
  }

  /** Rejects also where the pool throws: an error here would keep back all later notices, and fail the append of an answer that is recorded. */
  async #notify(values: unknown[]): Promise<PostgresResult> {
    return this.#pool.query({ ...this.#query, values });
  }
}

/* How long a statement keeps appends and other notices waiting, in milliseconds: a connection may be cut off without a word. */
const longestMs = 2_000;

/** Resolves when the work has ended in whatever way, or the time is over. A poll finds what nobody was told of. */
async function settleWithin(milliseconds: number, work: Promise<unknown>): Promise<void> {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  work.then(end, end);
  await waitForTimer(milliseconds, ended.signal);
}

/*
 * A notice tells which tables it is about, as all schemas of a database share its channels. An empty payload is no JSON afterwards, and means the
 * same.
 */
const sendNotices = `
  select pg_notify(channel, coalesce('{"table":"' || ${tableId} || '",' || substr(payload, 2), payload))
  from unnest($1::text[], $2::text[]) as notices (channel, payload)`;
