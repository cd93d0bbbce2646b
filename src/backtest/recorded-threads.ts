import { HoldpointError } from '../errors.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import { type EntryContent, verifyEntry } from '../thread/log-entry.ts';
import { parseThreadJson } from '../thread/thread-json.ts';
import type { ThreadJson } from '../thread/thread-json.ts';
import type { LogEnd, LogEntry, ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** The verified log of a thread. */
export interface RecordedThread {
  threadId: string;
  entries: readonly EntryContent[];
}

/** A thread that has not been read yet. */
export interface ThreadToRead {
  /** Its id, or if that is unknown, its position among the given threads. */
  name: string;
  /** Resolves with `undefined` if the thread was deleted meanwhile. Rejects if it can't be read. */
  read: () => Promise<RecordedThread | undefined>;
}

/** Handles of threads, or their JSON forms, as text or parsed. */
export type GivenThreads =
  | Iterable<AgentThread | ThreadJson | string>
  | AsyncIterable<AgentThread | ThreadJson | string>;

/** Threads that the caller has. */
export async function* readGivenThreads(threads: GivenThreads): AsyncGenerator<ThreadToRead> {
  let position = 0;
  for await (const given of threads) {
    position += 1;
    const name = given instanceof AgentThread ? given.id : `thread ${position} of the given ones`;
    yield {
      name,
      read: async () => {
        const json = given instanceof AgentThread ? given.toJSON() : given;
        const { threadId, entries } = parseThreadJson(json);
        return { threadId, entries: await verifyEntries(entries) };
      },
    };
  }
}

const pageSize = 100;

/** The threads of an agent in a store, page by page; `null`: of agents without a name. */
export async function* readStoredThreads(
  store: ThreadStore,
  agent: string | null,
): AsyncGenerator<ThreadToRead> {
  let after: ThreadSummary | undefined;
  for (;;) {
    const page = await store.list({ agent, limit: pageSize, ...(after && { after }) });
    for (const summary of page) {
      yield { name: summary.threadId, read: async () => readStored(store, summary) };
    }
    after = page.at(-1);
    if (page.length < pageSize) return;
  }
}

async function readStored(
  store: ThreadStore,
  { threadId, revision, hash }: ThreadSummary,
): Promise<RecordedThread | undefined> {
  const stored = await store.read(threadId);
  const entries = await verifyEntries(stored);
  const last = stored.findIndex((entry) => entry.revision === revision);
  if (entries[last]?.hash === hash) return { threadId, entries };
  /* It was deleted after it was listed, and its id may be in use again. */
  if ((await store.head(threadId))?.hash !== hash) return undefined;
  throw new HoldpointError(
    'log-tampered',
    `The log of thread ${threadId} has no revision ${revision}, at which the store's summary says it ends. Restore the thread from a backup.`,
  );
}

async function verifyEntries(entries: readonly LogEntry[]): Promise<EntryContent[]> {
  const contents: EntryContent[] = [];
  let end: LogEnd = { revision: 0, hash: '' };
  for (const entry of entries) {
    const content = await verifyEntry(entry, end);
    contents.push(content);
    end = { revision: entry.revision, hash: content.hash };
  }
  return contents;
}
