import { HoldpointError } from '../errors.ts';
import {
  agentColumn,
  createThreadIndexes,
  filterPart,
  noticeOf,
  pagePart,
  threadIndexes,
} from './sql/summary-query.ts';
import { entryOfRow, summaryOfRow } from './sql/stored-rows.ts';
import type {
  GrantChange,
  LogEnd,
  LogEntry,
  ThreadClaim,
  ThreadNotice,
  ThreadQuery,
  ThreadStore,
  ThreadSummary,
} from '../thread/thread-store.ts';
import { createGrantIndex } from './sql/grant-rows.ts';
import { changeGrants, sqliteGrants } from './sqlite/sqlite-grants.ts';
import { SqliteFile } from './sqlite/sqlite-file.ts';
import { Subscribers } from './sqlite/subscribers.ts';

/** A store in a SQLite file. */
export interface SqliteStore extends ThreadStore, Disposable {
  /**
   * Reports appends of other processes within about 50 ms. One timer serves all subscribers, and keeps the process alive until the last
   * subscription ends or the store is closed. The listener must not throw.
   */
  subscribe(listener: (notice?: ThreadNotice) => void): () => Promise<void>;
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

/** How a SQLite file is opened. */
export interface SqliteStoreOptions {
  /** How long to wait while another process writes, in milliseconds. Default 10,000. */
  busyTimeoutMs?: number;
}

/*
 * The tables have a rowid. `without rowid`, SQLite would load whole rows to compare keys: to find a thread, it would read megabytes of
 * entries of other threads, and to filter by an index, every row.
 */
const schema = `
create table if not exists holdpoint_entries (
  thread_id text not null,
  revision integer not null,
  entry text not null,
  primary key (thread_id, revision)
) strict;
create table if not exists holdpoint_threads (
  thread_id text primary key not null,
  agent text not null,
  status text not null,
  revision integer not null,
  hash text not null,
  open_requests integer not null,
  failures integer not null,
  next_deadline real,
  updated_at real not null
) strict;
${createThreadIndexes}
create table if not exists holdpoint_grants (
  grant_id text primary key not null,
  agent text not null,
  tool_name text not null,
  person text,
  body text not null,
  created_at real not null,
  expires_at real,
  uses_left integer
) strict;
${createGrantIndex}
`;

const readEntries =
  'select revision, entry from holdpoint_entries where thread_id = ? and revision > ? order by revision';
const readThread = 'select * from holdpoint_threads where thread_id = ?';
const insertEntry = 'insert into holdpoint_entries values (?, ?, ?)';
const insertThread = `
  insert into holdpoint_threads
    (revision, hash, agent, status, open_requests, failures, next_deadline, updated_at, thread_id)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`;
const updateThread = `
  update holdpoint_threads
  set revision = ?, hash = ?, agent = ?, status = ?, open_requests = ?, failures = ?, next_deadline = ?, updated_at = ?
  where thread_id = ? and revision = ? and hash = ?`;
const deleteThread =
  'delete from holdpoint_threads where thread_id = ? and revision = ? and hash = ?';
/*
 * The new text has the same length, so that it is written in place. `secure_delete` clears freed space, but not what remains where SQLite
 * moves rows between pages, as it does when neighbouring rows are deleted.
 */
const overwriteEntries = `
  update holdpoint_entries
  set entry = substr(hex(zeroblob(octet_length(entry) / 2 + 1)), 1, octet_length(entry))
  where thread_id = ?`;
const deleteEntries = 'delete from holdpoint_entries where thread_id = ?';
const postpone = 'update holdpoint_threads set next_deadline = ? where thread_id = ?';

/**
 * Keeps threads in a SQLite file, with Node's `node:sqlite`. An append that has resolved survives a crash of the process and of the machine
 * (`synchronous=full`). Any number of processes on one machine may share the file.
 *
 * @example
 * const agent = createAgent({ model, tools, store: sqliteStore('threads.sqlite') });
 */
export function sqliteStore(
  path: string,
  { busyTimeoutMs = 10_000 }: SqliteStoreOptions = {},
): SqliteStore {
  const file = new SqliteFile(path, schema, busyTimeoutMs);
  const subscribers = new Subscribers(() => file.version());
  const close = (): void => {
    subscribers.close();
    file.close();
  };
  return {
    read: async (threadId, afterRevision = 0) =>
      file.rows(readEntries, [threadId, afterRevision]).map(entryOfRow),

    grants: sqliteGrants(file),

    async append(threadId, expected, entries, summary, changes) {
      append(file, { threadId, expected, entries, summary, changes });
      const notice = noticeOf({ ...summary, threadId });
      if (notice !== undefined) subscribers.notify(notice);
    },

    head: async (threadId) => file.rows(readThread, [threadId]).map(summaryOfRow)[0],

    async list(query) {
      const { text, values } = pagePart(query);
      const from = `from holdpoint_threads ${indexFor(query)}`;
      return file.rows(`select * ${from} ${text}`, values).map(summaryOfRow);
    },

    async count(filter) {
      const { text, values } = filterPart(filter);
      const from = `from holdpoint_threads ${indexFor(filter)}`;
      const [row] = file.rows(`select count(*) as threads ${from} ${text}`, values);
      return Number(row?.['threads']);
    },

    async delete(threadId, expected) {
      remove(file, threadId, expected);
      file.truncateLog();
    },

    claim: async (claim) => claimDue(file, claim),
    subscribe: (listener) => subscribers.add(listener),
    close,
    [Symbol.dispose]: close,
  };
}

interface Append {
  threadId: string;
  expected: LogEnd;
  entries: readonly LogEntry[];
  summary: ThreadSummary;
  changes: readonly GrantChange[] | undefined;
}

function append(file: SqliteFile, { threadId, expected, entries, summary, changes }: Append): void {
  const {
    revision,
    hash,
    status,
    openRequests,
    failures,
    nextDeadline = null,
    updatedAt,
  } = summary;
  const counts = [openRequests, failures, nextDeadline, updatedAt];
  const row = [revision, hash, agentColumn(summary.agent), status, ...counts, threadId];
  file.transaction(() => {
    const written =
      expected.revision === 0
        ? file.write(insertThread, row)
        : file.write(updateThread, [...row, expected.revision, expected.hash]);
    if (written === 0) throw conflict(threadId, expected);
    if (changes !== undefined) changeGrants(file, changes);
    for (const entry of entries) file.write(insertEntry, [threadId, entry.revision, entry.text]);
  });
}

function remove(file: SqliteFile, threadId: string, expected: LogEnd): void {
  file.transaction(() => {
    const deleted = file.write(deleteThread, [threadId, expected.revision, expected.hash]);
    const isThere = deleted === 0 && file.rows(readThread, [threadId]).length > 0;
    if (isThere || (deleted === 0 && expected.revision > 0)) throw conflict(threadId, expected);
    file.write(overwriteEntries, [threadId]);
    file.write(deleteEntries, [threadId]);
  });
}

function conflict(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
}

/* A select and its updates, because `update … returning` returns rows in no order. */
function claimDue(
  file: SqliteFile,
  { agent, dueBefore, until, limit, threadId }: ThreadClaim,
): ThreadSummary[] {
  const one = threadId === undefined ? [] : [threadId];
  const text = `
    select * from holdpoint_threads ${one.length === 0 ? `indexed by ${threadIndexes.deadline}` : ''}
    where agent = ? and next_deadline < ? ${one.length === 0 ? '' : 'and thread_id = ?'}
    order by next_deadline limit ?`;
  const due = (): ThreadSummary[] =>
    file.rows(text, [agentColumn(agent), dueBefore, ...one, limit]).map(summaryOfRow);
  /* Workers that find nothing must neither wait for each other nor wake each other by a write. */
  if (due().length === 0) return [];
  return file.transaction(() =>
    due().map((summary) => {
      file.write(postpone, [until, summary.threadId]);
      return { ...summary, nextDeadline: until };
    }),
  );
}

/* The index is named, as SQLite has no statistics of these tables. It fails to prepare a query that the index doesn't fit. */
function indexFor({ status, agent, dueBefore, updatedBefore, order = 'id' }: ThreadQuery): string {
  if (dueBefore !== undefined) return `indexed by ${threadIndexes.deadline}`;
  if (order !== 'id' || updatedBefore !== undefined) {
    return `indexed by ${status === undefined ? threadIndexes.time : threadIndexes.statusAndTime}`;
  }
  if (status !== undefined) return `indexed by ${threadIndexes.status}`;
  return agent === undefined ? '' : `indexed by ${threadIndexes.agent}`;
}
