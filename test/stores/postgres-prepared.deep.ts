import { postgresStore } from 'holdpoint/stores/postgres';
import { storeConformance } from 'holdpoint/testing/store';
import { afterAll, describe, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

describe('postgresStore, with prepared statements', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const database = await server.createDatabase();
    const open = () => postgresStore(server.pool(database, { max: 4 }), { prepare: true });
    await check(open(), open);
  });
});
