import { postgresStore } from 'holdpoint/stores/postgres';
import { storeConformance } from 'holdpoint/testing/store';
import { afterAll, describe, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

describe('postgresStore whose appends wake somebody', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const pool = server.pool(await server.createDatabase());
    await pool.query('create table wakes (thread_id text)');
    const open = () =>
      postgresStore(pool, {
        onRequests: async ([change], transaction) =>
          transaction.query('insert into wakes values ($1)', [change?.request.threadId]),
        onWake: async ({ threadId }, transaction) =>
          transaction.query('insert into wakes values ($1)', [threadId]),
      });
    await check(open(), open);
  });
});
