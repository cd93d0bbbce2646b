import { setImmediate as turn } from 'node:timers/promises';
import type { FeedChange } from '../../src/thread/thread-store-requests.ts';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import type { Pool } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { appendRows, closed, opened, requestsOf } from '../support/row-requests.ts';
import { errorCode } from '../support/error-code.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

type PostgresConnection = Awaited<ReturnType<PostgresPool['connect']>>;

const levels = ['read committed', 'repeatable read', 'serializable'];

const toOptions = (level: string): string =>
  `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;

/** Keeps each commit back until others have committed, in an order that differs from that of the appends. */
class CommitGate {
  readonly #held: (() => void)[] = [];
  readonly #guarded = new WeakMap<PostgresConnection, PostgresConnection>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** A pool whose commits pass here. */
  guard(pool: PostgresPool): PostgresPool {
    return {
      query: async (query) => pool.query(query),
      connect: async () => {
        const connection = await pool.connect();
        const guarded = this.#guarded.get(connection) ?? this.#guardOne(connection);
        this.#guarded.set(connection, guarded);
        return guarded;
      },
    };
  }

  #guardOne(connection: PostgresConnection): PostgresConnection {
    return {
      query: async (query) => {
        if (query.text === 'commit') await this.#pass();
        return connection.query(query);
      },
      on: connection.on.bind(connection),
      release: (destroy) => connection.release(destroy),
    };
  }

  /** Lets one go when so many wait, not the one that came first. `open` lets all go. */
  async #pass(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.push(resolve);
    if (this.#held.length >= this.#most) this.#held.splice(Math.floor(this.#most / 2), 1)[0]?.();
    await promise;
  }

  open(): void {
    for (const letGo of this.#held.splice(0)) letGo();
  }
}

const beginTransaction = {
  onRequests: async (
    _changes: unknown,
    transaction: { query: (text: string) => Promise<unknown> },
  ) => transaction.query('select'),
};

const toLines = (changes: FeedChange[] | undefined): string[] | undefined =>
  changes?.map(({ position, type, requestId }) => `${position} ${type} ${requestId}`);

/** Ends the connections of this name, whatever they are doing. */
async function cut(admin: Pool, name: string): Promise<void> {
  await admin.query(
    'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1',
    [name],
  );
}

/** Follows the feed until it is over and nothing is left; goes on when its connection is cut. */
async function follow(pool: PostgresPool, over: AbortSignal): Promise<FeedChange[]> {
  const requests = requestsOf(postgresStore(pool));
  const seen: FeedChange[] = [];
  for (;;) {
    const wasOver = over.aborted;
    const after = seen.at(-1)?.position ?? 0;
    const page = await requests.changes({ after, limit: 7 }).catch(() => undefined);
    for (const change of page ?? []) {
      expect(change.position).toBeGreaterThan(seen.at(-1)?.position ?? 0);
      seen.push(change);
    }
    if (wasOver && page?.length === 0) return seen;
  }
}

describe.each(levels)('the feed in %s', (level) => {
  test('gives every reader the same changes, each once, when commits come in another order and connections are cut', async () => {
    const database = await server.createDatabase();
    const admin = server.pool(database);
    await requestsOf(postgresStore(admin)).count({});
    const gate = new CommitGate(4);
    const writer = server.pool(database, { options: toOptions(level), max: 8 });
    const store = postgresStore(gate.guard(writer), beginTransaction);
    const committed = new Set<string>();
    /* Each thread opens a request and closes it, as the agent does: again after a conflict. */
    const write = async (threadId: string): Promise<void> => {
      for (const [revision, change] of [opened(threadId), closed(threadId)].entries()) {
        for (;;) {
          const code = await errorCode(appendRows(store, threadId, [change], revision + 1));
          if (code === 'no error') break;
          const [end] = await postgresStore(admin).read(threadId, revision);
          if (end !== undefined) break;
        }
        committed.add(`${change.type} ${threadId}`);
      }
    };
    const over = new AbortController();
    const readers = [1, 2, 3].map((number) =>
      server.pool(database, {
        options: toOptions(level),
        application_name: number === 3 ? 'cut' : 'reader',
      }),
    );
    const following = readers.map(async (pool) => follow(pool, over.signal));
    const writing = Promise.all(
      Array.from({ length: 6 }, async (_, lane) => {
        for (let round = 0; round < 15; round += 1) await write(`${lane} ${round}`);
      }),
    ).finally(() => over.abort());
    while (!over.signal.aborted) {
      await cut(admin, 'cut');
      gate.open();
    }
    await writing;
    const [one, ...others] = await Promise.all(following);
    const seen = (one ?? []).map(({ type, requestId }) => `${type} ${requestId}`);
    expect(new Set(seen)).toEqual(committed);
    expect(seen).toHaveLength(committed.size);
    for (const other of others) expect(toLines(other)).toEqual(toLines(one));
    for (const id of new Set(one?.map(({ requestId }) => requestId))) {
      expect(seen.indexOf(`opened ${id}`)).toBeLessThan(seen.indexOf(`closed ${id}`));
    }
  });
});

test('an append whose connection is cut at any time has written its rows and its changes, or has written nothing', async () => {
  const database = await server.createDatabase();
  const admin = server.pool(database);
  const writer = postgresStore(server.pool(database, { application_name: 'cut' }));
  const requests = requestsOf(postgresStore(admin));
  await requests.count({});
  for (let round = 0; round < 40; round += 1) {
    const ids = Array.from({ length: 30 }, (_, index) => `${round} ${index}`);
    const appending = errorCode(
      appendRows(
        writer,
        `t${round}`,
        ids.map((id) => opened(id, { approvers: ['ada', 'bob'] })),
      ),
    );
    for (let turns = 0; turns < round; turns += 1) await turn();
    await cut(admin, 'cut');
    const code = await appending;
    const written = (await postgresStore(admin).read(`t${round}`)).length;
    expect(code === 'no error' && written === 0).toBe(false);
    expect(await requests.count({ threadId: `t${round}` })).toBe(written * ids.length);
    const all = await requests.count({});
    expect(await requests.count({ state: 'open', approver: ['bob'] })).toBe(all);
  }
  const changes = await requests.changes({ after: 0, limit: 10_000 });
  expect(changes).toHaveLength(await requests.count({}));
});
