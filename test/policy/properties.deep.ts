import * as fc from 'fast-check';
import { memoryStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { played, plays } from '../faults/policy-moves.ts';
import { mustHold } from '../faults/seeded-check.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { cases, findLies } from './rights-world.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 20);
const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

describe('no sequence of answers, votes, edits, expiries and standing approvals runs what too few approved', () => {
  test('in memory', async () => {
    const property = fc.asyncProperty(plays, async (play) => {
      const store = memoryStore();
      expect((await played(play, () => store)).faults).toEqual([]);
    });
    await mustHold(property, { numRuns: 20 * times });
  });

  test('in Postgres, where each worker has connections of its own', async () => {
    const property = fc.asyncProperty(plays, async (play) => {
      const database = await server.createDatabase();
      const open = () => postgresStore(server.pool(database, { max: 2 }));
      expect((await played(play, open)).faults).toEqual([]);
    });
    await mustHold(property, { numRuns: 2 * times });
  });
});

test('the question who may answer never says yes where an answer is refused, nor no where it is accepted', async () => {
  const property = fc.asyncProperty(cases, async (asked) => {
    expect(await findLies(asked)).toEqual([]);
  });
  await mustHold(property, { numRuns: 20 * times });
});
