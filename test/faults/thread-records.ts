import type { LogEntry, ThreadEvent, ThreadStore, ThreadSummary } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { z } from 'zod';
import type { Effect, Evidence } from './evidence.ts';

/** A thread, as long as there is one of its id: a deleted one is followed by another. */
interface ThreadRecord {
  entries: readonly LogEntry[];
  /** For each event, the name of the agent that appended it. */
  authors: (string | undefined)[];
  /** The log as it was found, each time. */
  looks: ThreadEvent[][];
}

/** What is noted beside the logs, of all threads that had the id, one after the other. */
interface Notes {
  effects: readonly Effect[];
  prompts: readonly { prompt: unknown; revision: number; runId: string | undefined }[];
  acknowledged: readonly { requestId: string; approved: boolean }[];
  gated: ReadonlySet<string>;
}

const hashSchema = z.object({ hash: z.string() });

/** The threads that had one id in a store, one after the other, and who wrote them. */
export class ThreadRecords {
  readonly #past: ThreadRecord[] = [];
  #authors: (string | undefined)[] = [];
  #looks: ThreadEvent[][] = [];

  /** How many were deleted. */
  get deletions(): number {
    return this.#past.length;
  }

  /** The store as a process of an agent sees it: what it does is noted. */
  noting(store: ThreadStore, agent: string | undefined): ThreadStore {
    const { deletion } = store;
    const note = (entries: readonly LogEntry[]): void => {
      this.#past.push({ entries, authors: this.#authors, looks: this.#looks });
      [this.#authors, this.#looks] = [[], []];
    };
    return {
      ...store,
      append: async (threadId, expected, entries, summary, ...beside) => {
        await store.append(threadId, expected, entries, summary, ...beside);
        /* A thread that is restored whole is as its authors wrote it. */
        if (entries.length === 1) this.#sign(expected.revision, summary, agent);
      },
      delete: async (threadId, expected) => {
        const entries = await store.read(threadId);
        await store.delete(threadId, expected);
        note(entries);
      },
      ...(deletion && {
        deletion: {
          ...deletion,
          delete: async (groups) => {
            const [[{ threadId } = { threadId: '' }] = []] = groups;
            const entries = await store.read(threadId);
            const gone = await deletion.delete(groups);
            if (gone.length > 0) note(entries);
            return gone;
          },
        },
      }),
    };
  }

  /** Notes how the log stands. */
  look(events: ThreadEvent[]): void {
    this.#looks.push(events);
  }

  /** What is known of each thread; what belongs to none is put down to the last. */
  evidence(entries: readonly LogEntry[], notes: Notes): Evidence[] {
    const last = { entries, authors: this.#authors, looks: this.#looks };
    const records = [...this.#past, last].map((record) => new Owned(record));
    const ownerOf = (isOwn: (record: Owned) => boolean): Owned | undefined =>
      records.find(isOwn) ?? records.at(-1);
    return records.map((record) => ({
      ...record.evidence,
      gated: notes.gated,
      effects: notes.effects.filter((effect) => ownerOf((one) => one.proposed(effect)) === record),
      prompts: notes.prompts.filter(({ runId }) => ownerOf((one) => one.ran(runId)) === record),
      acknowledged: notes.acknowledged.filter(
        ({ requestId }) => ownerOf((one) => one.asked(requestId)) === record,
      ),
    }));
  }

  #sign(before: number, { revision }: ThreadSummary, agent: string | undefined): void {
    for (let at = before; at < revision; at += 1) this.#authors[at] = agent;
  }
}

/** Tells what belongs to a thread, by what its log alone has. */
class Owned {
  readonly evidence: Pick<Evidence, 'entries' | 'events'> & Pick<ThreadRecord, 'authors' | 'looks'>;
  readonly #hashes: ReadonlySet<string>;

  constructor(record: ThreadRecord) {
    const { entries } = record;
    /* Copies: what this process has in memory of an entry is not what is stored. */
    const events = entries.flatMap((entry) => eventsOf({ ...entry }));
    this.evidence = { ...record, events };
    this.#hashes = new Set(entries.map(({ text }) => hashSchema.parse(JSON.parse(text)).hash));
  }

  proposed({ idempotencyKey }: Effect): boolean {
    return this.#hashes.has(idempotencyKey.split('.')[0] ?? '');
  }

  ran(runId: string | undefined): boolean {
    return this.evidence.events.some(
      (event) => event.type === 'run-started' && event.runId === runId,
    );
  }

  asked(requestId: string): boolean {
    return this.evidence.events.some(
      (event) => event.type === 'request-opened' && event.request.requestId === requestId,
    );
  }
}
