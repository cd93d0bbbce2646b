import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createAgent, type LogEntry, memoryStore, type ThreadEvent } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { chainedEach, endOf } from '../support/chained.ts';
import { statelessModel } from './stateless-model.ts';
import type { LogEnd } from '../../src/thread/thread-store.ts';

/** The bytes of a SQLite database, as a disk has them. */
export interface DatabaseFiles {
  main: Buffer;
  /** What was written and not yet moved into the main file, as the process did not close it. */
  wal?: Buffer;
  /** The index into `wal` that processes share while they run. */
  shm?: Buffer;
}

/** A database with one thread among others, and what its main file was before. */
export interface WrittenDatabase extends DatabaseFiles {
  /** The whole thread. */
  events: readonly ThreadEvent[];
  pageSize: number;
  older: Buffer[];
}

/** How a database is written. */
interface Writing {
  /** The smaller the pages, the more of the file is the tree that holds them together. */
  pageSize: number;
  /** From which part on, counted from 0, the file is not closed any more. */
  unclosedFrom: number;
}

/** After how many events the thread stands where a part of it ends, which is where an append ends. */
export const partEnds = [4, 9, 15];

/** A SQLite file to which a thread was written in parts. */
export async function writtenDatabase(json: string, writing: Writing): Promise<WrittenDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-files-'));
  try {
    return await write(join(folder, 'threads.sqlite'), await entriesOf(json), writing);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function write(
  path: string,
  entries: readonly LogEntry[],
  { pageSize, unclosedFrom }: Writing,
): Promise<WrittenDatabase> {
  using empty = new DatabaseSync(path);
  empty.exec(`pragma page_size = ${pageSize}; vacuum;`);
  empty.close();
  const older: Buffer[] = [];
  let store = sqliteStore(path);
  for (const [part, end] of partEnds.entries()) {
    await appendPart(store, entries, { from: partEnds[part - 1] ?? 0, end });
    if (part >= unclosedFrom) continue;
    store.close();
    older.push(readFileSync(path));
    store = sqliteStore(path);
  }
  const wal = readFileSync(`${path}-wal`);
  const main = readFileSync(path);
  store.close();
  return {
    events: entries.flatMap(eventsOf),
    pageSize,
    older,
    main,
    ...(wal.length > 0 ? { wal } : {}),
  };
}

/** What was appended to a thread. */
async function entriesOf(json: string): Promise<LogEntry[]> {
  const store = memoryStore();
  const model = statelessModel([], async (_prompt, answer) => answer());
  const { id } = await createAgent({ model, store }).restore(json);
  return store.read(id);
}

async function appendPart(
  store: SqliteStore,
  entries: readonly LogEntry[],
  { from, end }: { from: number; end: number },
): Promise<void> {
  const added = entries.filter(({ revision }) => from < revision && revision <= end);
  if (endOf(added).revision !== end) throw new Error(`No append ends at revision ${end}.`);
  await appendTo(store, 'golden', () => added);
  for (const neighbour of ['a neighbour before', 'the neighbour behind']) {
    const fillers = added.map((entry) => eventsOf(entry).map(filler));
    await appendTo(store, neighbour, (before) => chainedEach(fillers, before));
  }
}

async function appendTo(
  store: SqliteStore,
  threadId: string,
  entriesAfter: (end: LogEnd) => readonly LogEntry[],
): Promise<void> {
  const before = (await store.head(threadId)) ?? endOf([]);
  const entries = entriesAfter(before);
  await store.append(threadId, before, entries, {
    threadId,
    status: 'waiting',
    ...endOf(entries),
    openRequests: 1,
    failures: 0,
    updatedAt: before.revision,
  });
}

/* It takes room beside the thread; nobody opens it. */
function filler({ at }: ThreadEvent): ThreadEvent {
  return { type: 'run-renewed', at, runId: 'x'.repeat(150), leaseUntil: at };
}
