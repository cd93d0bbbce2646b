import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { sqliteSchema, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { listHookCalls } from '../../src/stores/sql/hooks.ts';
import { nodeDriver } from '../support/node-driver.ts';
import type { RequestChange } from '../../src/thread/thread-store-requests.ts';
import type { SqliteHooks } from '../../src/stores/sqlite-on/hooks.ts';

/** A change of a request, as a hook has written it. */
export interface WrittenChange {
  threadId: string;
  /** The type of the change and the id of the request. */
  text: string;
}

/** Does the work of a hook, which may take its time, or be the last that a process does. */
export type ReachHook = <RESULT>(work: () => Promise<RESULT>) => Promise<RESULT>;

/** A store whose hook writes each change of a request to an outbox, in the append that makes it. */
export interface Outbox {
  /** The store as a process opens it. */
  open(reach?: ReachHook): ThreadStore;
  /** What has become durable, oldest first. */
  written(): WrittenChange[];
}

function writeChange({ type, request }: RequestChange): WrittenChange {
  return { threadId: request.threadId, text: `${type} ${request.requestId}` };
}

/** An outbox beside a store in memory, which has no hooks of its own: they are called as the SQL stores call them. */
export class MemoryOutbox implements Outbox {
  readonly #store: ThreadStore;
  readonly #written: WrittenChange[] = [];

  constructor(store: ThreadStore = memoryStore()) {
    this.#store = store;
  }

  open(): ThreadStore {
    const store = this.#store;
    return {
      ...store,
      append: async (threadId, expected, entries, summary, ...beside) => {
        const added: WrittenChange[] = [];
        const hooks = {
          onRequests: (changes: readonly RequestChange[]) =>
            added.push(...changes.map(writeChange)),
        };
        const calls = listHookCalls(hooks, { ...summary, threadId }, beside[0]?.requests);
        for (const { call } of calls) call(undefined);
        await store.append(threadId, expected, entries, summary, ...beside);
        this.#written.push(...added);
      },
    };
  }

  written(): WrittenChange[] {
    return this.#written;
  }
}

/** An outbox in a SQLite database, with a store on the same database for each process. */
export class SqliteOutbox implements Outbox {
  readonly #database = new DatabaseSync(':memory:');

  constructor() {
    this.#database.exec(sqliteSchema);
    this.#database.exec('create table outbox (thread_id text, change text) strict');
  }

  open(reach: ReachHook = async (work) => work()): ThreadStore {
    const onRequests: SqliteHooks['onRequests'] = async (changes, transaction) =>
      reach(async () => {
        for (const { threadId, text } of changes.map(writeChange)) {
          transaction.run('insert into outbox values (?, ?)', [threadId, text]);
        }
      });
    return sqliteStoreOn(nodeDriver(this.#database), { createSchema: false, onRequests });
  }

  written(): WrittenChange[] {
    const rows = this.#database
      .prepare('select thread_id, change from outbox order by rowid')
      .all();
    return rows.map((row) => ({ threadId: String(row['thread_id']), text: String(row['change']) }));
  }
}
