/* First, as it has ids counted that others make at random. */
import { playClaims } from './play-claims.ts';

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { postgresSchema } from 'holdpoint/stores/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { withoutCompareAndSwap } from './broken-stores.ts';
import { fatesOfAll, leaveEverywhere, leavers, type Leavings } from './claim-crashes.ts';
import {
  type MakeClaimGround,
  makeMemoryGround,
  makeMemoryGrounds,
  makePostgresGrounds,
  makeSqliteGrounds,
} from './claim-grounds.ts';
import { claimSchedules, type Fate, undisturbed, type WorkerPlan } from './claim-schedules.ts';
import { mustHold, tryOut } from './seeded-check.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 10);
const limitMs = 150_000 * times;
const timeout = 200_000 * times;

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());

/** A kind of store, and how many schedules are played on it. */
interface Site {
  name: string;
  schedules: number;
  open(): Promise<AsyncDisposable & { makeGround: MakeClaimGround }>;
}

const sites: Site[] = [
  {
    name: 'memory',
    schedules: 500,
    open: async () => ({ makeGround: makeMemoryGround, async [Symbol.asyncDispose]() {} }),
  },
  {
    name: 'SQLite',
    schedules: 50,
    async open() {
      const folder = mkdtempSync(join(tmpdir(), 'holdpoint-claims-'));
      let files = 0;
      return {
        makeGround: makeSqliteGrounds(() => join(folder, `${(files += 1)}.sqlite`)),
        [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
      };
    },
  },
  {
    name: 'Postgres',
    schedules: 30,
    async open() {
      const pool = server.pool(await server.createDatabase(), { max: 1, idleTimeoutMillis: 0 });
      await pool.query(`do $$ begin ${postgresSchema} end $$`);
      const { rows } = await pool.query<{ tablename: string }>(
        `select tablename from pg_tables where tablename like 'holdpoint%'`,
      );
      const tables = rows.map(({ tablename }) => tablename);
      return {
        makeGround: makePostgresGrounds(pool, tables),
        async [Symbol.asyncDispose]() {},
      };
    },
  },
];

describe.each(sites)('whichever workers die on $name, and whatever notices are lost,', (site) => {
  test('no due thread waits longer than a poll, and none is left behind', { timeout }, async () => {
    await using grounds = await site.open();
    const seen: Record<string, number> = {};
    const property = fc.asyncProperty(claimSchedules, async (schedule) => {
      const { faults, statuses } = await playClaims(schedule, grounds.makeGround);
      for (const end of statuses) seen[end] = (seen[end] ?? 0) + 1;
      expect(faults).toEqual([]);
    });
    const numRuns = site.schedules * times;
    await mustHold(property, { numRuns, limitMs });
    console.log(`${numRuns} schedules on ${site.name}:`, seen);
    for (const end of ['idle', 'waiting']) expect(seen).toHaveProperty(end);
  });

  test('a schedule is played the same way again', { timeout }, async () => {
    await using grounds = await site.open();
    for (const schedule of fc.sample(claimSchedules, { seed: 33, numRuns: 2 * times })) {
      const first = await playClaims(schedule, grounds.makeGround);
      expect(await playClaims(schedule, grounds.makeGround)).toEqual(first);
    }
  });

  test.each(leavers)('nor where %s, at whichever point', { timeout }, async (who, at) => {
    await using grounds = await site.open();
    for (const [fate, fateOfAll] of Object.entries(fatesOfAll)) {
      const ends = await leaveEverywhere(at, fateOfAll, grounds.makeGround);
      expect(ends.filter(({ faults }) => faults.length > 0)).toEqual([]);
      console.log(`${ends.length} points on ${site.name} where ${who} and notices ${fate}`);
    }
  });
});

test('nor where two of three workers die, each at whichever point', { timeout }, async () => {
  const unknown = new Set<number>();
  let plays = 0;
  for (const fate of Object.values(fatesOfAll)) {
    for (let first = 1; ; first += 1) {
      const at = (second: number): Leavings => ({
        workers: [{ diesAt: first }, { diesAt: second }],
      });
      const ends = await leaveEverywhere(at, fate, makeMemoryGround);
      if (ends.length === 0) break;
      expect(ends.filter(({ faults }) => faults.length > 0)).toEqual([]);
      plays += ends.length;
      if (ends.some(({ statuses }) => statuses.includes('indeterminate'))) unknown.add(first);
    }
  }
  console.log(`${plays} pairs of deaths`);
  /* Between the start of a call and its result. */
  expect(unknown.size).toBeGreaterThan(0);
});

test.each([/started 2 times/, /had 2 effects/])(
  'a store without compare-and-swap is found out: %s',
  { timeout },
  async (sentence) => {
    const makeGround = makeMemoryGrounds(withoutCompareAndSwap);
    const property = fc.asyncProperty(claimSchedules, async (schedule) => {
      const { faults } = await playClaims(schedule, makeGround);
      expect(faults.filter((fault) => sentence.test(fault))).toEqual([]);
    });
    const found = await tryOut(property, { numRuns: 500 * times, endOnFailure: true, limitMs });
    console.log(`${String(sentence)}: found after ${found.numRuns} schedules`);
    expect(found).toMatchObject({ failed: true, interrupted: false });
  },
);

/** Idle workers, and answers that come to them one by one; notices take the times of the wire. */
function idleFleet(
  workers: readonly Pick<WorkerPlan, 'isOlder' | 'concurrency'>[],
  { firstId, fates }: { firstId: number; fates: readonly Fate[] },
) {
  const calls = ['Paris', 'Rome', 'Oslo'].map((city) => ['book', city] as const);
  return {
    ...undisturbed,
    workers: workers.map((kind, index) => ({ ...kind, startsAt: index * 10, skewMs: 0 })),
    threads: Array.from({ length: 50 }, (_, index) => {
      const begin = 600 + index * 20;
      return { calls, answers: [0, 1, 2].map((nth) => ({ at: begin + nth * 1_000 })) };
    }),
    fates,
    firstId,
  };
}

const answers = 150;
const idle = { isOlder: false, concurrency: 4 };
const fifty = Array.from({ length: 50 }, () => idle);
const older = Array.from({ length: 6 }, () => ({ ...idle, isOlder: true }));

test.each([
  ['fifty idle workers, 1.5 times at most', fifty, 1.5],
  ['fifty that run one thread each', fifty.map((each) => ({ ...each, concurrency: 1 })), 1.5],
  [
    'six beside six of a version without turns, by these and 1.5 times more',
    [...fifty.slice(44), ...older],
    7.5,
  ],
])('an answer is claimed by %s', { timeout }, async (_fleet, workers, most) => {
  const fate = fc.integer({ min: 1, max: 15 }).map((ms): Fate => [ms]);
  const fates = fc.array(fate, { minLength: 20_000, maxLength: 20_000, size: 'max' });
  const ways = fc.record({ firstId: fc.nat(1_000_000), fates });
  const counts: number[] = [];
  for (const way of fc.sample(ways, { seed: 33, numRuns: times })) {
    const { faults, claims } = await playClaims(idleFleet(workers, way), makeMemoryGround);
    expect(faults).toEqual([]);
    counts.push(claims / answers);
  }
  console.log(`claims an answer: ${counts.map((count) => count.toFixed(2)).join()}`);
  expect(Math.max(...counts)).toBeLessThanOrEqual(most);
});
