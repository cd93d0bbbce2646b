import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createAgent, memoryStore, type NewThreadEvent, type ThreadEvent } from 'holdpoint';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { statelessModel } from './stateless-model.ts';

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

/** After how many events the thread stands where a part of it ends. */
export const partEnds = [5, 10, 15];

/** A SQLite file to which a thread was written in parts. */
export async function writtenDatabase(json: string, writing: Writing): Promise<WrittenDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-files-'));
  try {
    return await write(join(folder, 'threads.sqlite'), await eventsOf(json), writing);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function write(
  path: string,
  events: readonly ThreadEvent[],
  { pageSize, unclosedFrom }: Writing,
): Promise<WrittenDatabase> {
  using empty = new DatabaseSync(path);
  empty.exec(`pragma page_size = ${pageSize}; vacuum;`);
  empty.close();
  const older: Buffer[] = [];
  let store = sqliteStore(path);
  for (const [part, end] of partEnds.entries()) {
    await appendPart(store, events, { from: partEnds[part - 1] ?? 0, end });
    if (part >= unclosedFrom) continue;
    store.close();
    older.push(readFileSync(path));
    store = sqliteStore(path);
  }
  const wal = readFileSync(`${path}-wal`);
  const main = readFileSync(path);
  store.close();
  return { events, pageSize, older, main, ...(wal.length > 0 ? { wal } : {}) };
}

/** The events of a thread, bytes and URLs in them decoded. */
async function eventsOf(json: string): Promise<ThreadEvent[]> {
  const store = memoryStore();
  const model = statelessModel([], async (_prompt, answer) => answer());
  const { id } = await createAgent({ model, store }).restore(json);
  return store.read(id);
}

async function appendPart(
  store: SqliteStore,
  events: readonly ThreadEvent[],
  { from, end }: { from: number; end: number },
): Promise<void> {
  const added = events.slice(from, end);
  await appendTo(store, 'golden', from, added);
  for (const neighbour of ['a neighbour before', 'the neighbour behind']) {
    await appendTo(store, neighbour, from, added.map(filler));
  }
}

async function appendTo(
  store: SqliteStore,
  threadId: string,
  from: number,
  events: readonly ThreadEvent[],
): Promise<void> {
  const summary = { threadId, status: 'waiting', openRequests: 1, updatedAt: from } as const;
  await store.append(threadId, from, events, { ...summary, revision: from + events.length });
}

/* It takes room beside the thread; nobody opens it. */
function filler({ at, hash }: ThreadEvent): ThreadEvent {
  const event: NewThreadEvent = { type: 'run-renewed', at, runId: 'x'.repeat(150), leaseUntil: at };
  return { ...event, hash };
}
