import { DatabaseSync } from 'node:sqlite';
import { HoldpointError } from '../errors.ts';
import { decodeEvents, encodeEvent } from '../thread/event-text.ts';
import { eventTextOfRow, summaryOfRow } from '../thread/stored-row.ts';
import type { ThreadStore } from '../thread/thread-store.ts';

/** A store in one SQLite file. */
export interface SqliteStore extends ThreadStore, Disposable {
  /** Closes the file; the store can't be used after. */
  close(): void;
}

/** How a SQLite file is opened. */
export interface SqliteStoreOptions {
  /** How long to wait for another process that is writing, in milliseconds. Default 10,000. */
  busyTimeoutMs?: number;
}

const schema = `
  create table if not exists holdpoint_events (
    thread_id text not null,
    revision integer not null,
    event text not null,
    primary key (thread_id, revision)
  ) strict, without rowid;
  create table if not exists holdpoint_threads (
    thread_id text primary key,
    status text not null,
    revision integer not null,
    open_requests integer not null,
    next_deadline real,
    updated_at real not null
  ) strict, without rowid;
  create index if not exists holdpoint_threads_by_status on holdpoint_threads (status, thread_id);
  create index if not exists holdpoint_threads_by_deadline on holdpoint_threads (next_deadline);
`;

/**
 * Threads in one SQLite file, through Node's own `node:sqlite`. An append that has resolved survives a crash of the
 * process and of the machine (`synchronous=full`), and any number of processes on one machine may share the file.
 *
 * @example
 * const agent = createAgent({ model, tools, store: sqliteStore('threads.sqlite') });
 */
export function sqliteStore(
  path: string,
  { busyTimeoutMs = 10_000 }: SqliteStoreOptions = {},
): SqliteStore {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    useWriteAheadLog(database, Date.now() + busyTimeoutMs);
    database.exec('pragma synchronous = full;');
    database.exec(`begin immediate; ${schema} commit;`);
  } catch (error) {
    database.close();
    throw toldDamage(error);
  }
  const read = database.prepare(
    'select event from holdpoint_events where thread_id = ? and revision > ? order by revision',
  );
  const revisionOf = database.prepare('select revision from holdpoint_threads where thread_id = ?');
  const insert = database.prepare('insert into holdpoint_events values (?, ?, ?)');
  const upsert = database.prepare(
    'insert or replace into holdpoint_threads values (?, ?, ?, ?, ?, ?)',
  );
  const head = database.prepare('select * from holdpoint_threads where thread_id = ?');
  const list = database.prepare(`
    select * from holdpoint_threads
    where (:status is null or status = :status)
      and (:dueBefore is null or next_deadline < :dueBefore)
      and (:after is null or thread_id > :after)
    order by thread_id limit :limit
  `);

  const inTransaction = (work: () => void): void => {
    database.exec('begin immediate');
    try {
      work();
      database.exec('commit');
    } catch (error) {
      /* SQLite ends a transaction itself where the disk is full or fails. */
      if (database.isTransaction) database.exec('rollback');
      throw error;
    }
  };

  return {
    async read(threadId, afterRevision = 0) {
      return decodeEvents(told(() => read.all(threadId, afterRevision)).map(eventTextOfRow));
    },

    async append(threadId, expectedRevision, events, summary) {
      const texts = events.map(encodeEvent);
      told(() =>
        inTransaction(() => {
          const revision = Number(revisionOf.get(threadId)?.['revision'] ?? 0);
          if (revision !== expectedRevision) {
            throw new HoldpointError(
              'revision-conflict',
              `Thread ${threadId} is at revision ${revision}, not ${expectedRevision}.`,
            );
          }
          for (const [index, text] of texts.entries()) {
            insert.run(threadId, expectedRevision + index + 1, text);
          }
          const { status, openRequests, nextDeadline, updatedAt } = summary;
          const after = expectedRevision + texts.length;
          upsert.run(threadId, status, after, openRequests, nextDeadline ?? null, updatedAt);
        }),
      );
    },

    async head(threadId) {
      const row = told(() => head.get(threadId));
      return row === undefined ? undefined : summaryOfRow(row);
    },

    async list({ status, dueBefore, after, limit = 100 }) {
      const query = { status: status ?? null, dueBefore: dueBefore ?? null, after: after ?? null };
      return told(() => list.all({ ...query, limit })).map(summaryOfRow);
    },

    close() {
      database.close();
    },

    [Symbol.dispose]() {
      database.close();
    },
  };
}

/** Two processes that turn a new file to its log at once: SQLite refuses one without waiting, as they might wait for each other. */
function useWriteAheadLog(database: DatabaseSync, until: number): void {
  for (;;) {
    try {
      database.exec('pragma journal_mode = wal');
      return;
    } catch (error) {
      if (primaryCode(error) !== busy || Date.now() >= until) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

/* What `sqlite3.h` calls them. */
const busy = 5;
const corrupt = 11;
const notADatabase = 26;

function primaryCode(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}

/** What SQLite says, in our words where the file is damaged; a full or failing disk is not ours to name. */
function told<RESULT>(work: () => RESULT): RESULT {
  try {
    return work();
  } catch (error) {
    throw toldDamage(error);
  }
}

/* Also an integer that JavaScript can't hold, which holdpoint never wrote. */
function toldDamage(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const isDamage =
    [corrupt, notADatabase].includes(primaryCode(error)) ||
    Reflect.get(error, 'code') === 'ERR_OUT_OF_RANGE';
  if (!isDamage) return error;
  return new HoldpointError(
    'log-tampered',
    `The database is damaged: ${error.message}. Restore it from a backup.`,
    { cause: error },
  );
}
