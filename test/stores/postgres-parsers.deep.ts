import { postgresSchema, postgresStore } from 'holdpoint/stores/postgres';
import { storeConformance } from 'holdpoint/testing/store';
import type { Pool, PoolConfig } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** Parsers as apps set them for all of `pg`, and stranger. */
const types = {
  /* No value of any type is what `pg` makes of it by default. */
  getTypeParser: () => (text: unknown) => ({ parsed: text }),
};

describe.each<[string, PoolConfig]>([
  ['whose values the app parses otherwise', { types }],
  ['that is sent numbers of 15 digits', { options: '-c extra_float_digits=0' }],
])('a store on a pool %s', (_kind, config) => {
  let pool: Pool;
  beforeAll(async () => {
    pool = server.pool(await server.createSchema(), config);
    await pool.query(postgresSchema);
  });
  beforeEach(async () => {
    await pool.query(`
      truncate holdpoint_entries, holdpoint_threads, holdpoint_grants, holdpoint_requests,
        holdpoint_request_approvers, holdpoint_request_changes
    `);
  });

  /* A time has 13 digits; those of one case have 16. */
  const cases = storeConformance.filter(
    ({ name }) => !name.startsWith('a request that expires later than a number counts exactly'),
  );
  test.each('types' in config ? storeConformance : cases)('$name', async ({ check }) => {
    await check(postgresStore(pool), () => postgresStore(pool));
  });

  test('creates its tables', async () => {
    const empty = server.pool(await server.createSchema(), config);
    expect(await postgresStore(empty).count({})).toBe(0);
  });
});
