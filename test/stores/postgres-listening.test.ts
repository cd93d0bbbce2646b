import {
  type PostgresConnection,
  type PostgresPool,
  postgresStore,
} from 'holdpoint/stores/postgres';
import { expect, test } from 'vitest';

/** A pool whose server answers when the test says so. */
function slowPool(listening: Promise<unknown> = Promise.resolve()) {
  const { promise: connected, resolve: connect } = Promise.withResolvers<PostgresConnection>();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<boolean>();
  const connection: PostgresConnection = {
    query: async () => {
      ask();
      return listening;
    },
    on: () => {},
    release,
  };
  const pool: PostgresPool = {
    query: async () => ({ rows: [], rowCount: 0 }),
    connect: async () => connected,
  };
  return { pool, connect: () => connect(connection), asked, released };
}

test('who stops listening waits for no connection that does not come, and one that comes late is closed', async () => {
  const { pool, connect, released } = slowPool();
  const stop = postgresStore(pool).subscribe(() => {});
  await stop();
  connect();
  expect(await released).toBe(true);
});

test('nor for a server that does not answer', async () => {
  const { pool, connect, asked, released } = slowPool(new Promise(() => {}));
  const stop = postgresStore(pool).subscribe(() => {});
  connect();
  await asked;
  await stop();
  expect(await released).toBe(true);
});
