import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ThreadStore } from 'holdpoint';
import { type PostgresPool, postgresSchema, postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  fewCounts,
  plainPages,
  pointQuestions,
  type Question,
  seedEntries,
  seedThreads,
  timedPages,
} from '../support/many-threads.ts';
import {
  approverPages,
  orderedRequestPages,
  rareAgentPages,
  rareDecisionPages,
  requestPoints,
  seedManyOnPostgres,
  seedRequests,
  threadRequestPages,
} from '../support/many-requests.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

type Query = Parameters<PostgresPool['query']>[0];

/** A store of 100,000 threads that shows how its database answers. */
interface Explained extends AsyncDisposable {
  store: ThreadStore;
  /** Asks, and gives the plan of each statement that this ran, with the statement. */
  plansOf(questions: Question[]): Promise<string[]>;
}

async function explainedSqlite(): Promise<Explained> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-explain-'));
  const path = join(folder, 'threads.sqlite');
  const store = sqliteStore(path);
  const database = new DatabaseSync(path);
  for (const seed of [seedThreads, seedEntries, ...seedRequests]) database.exec(seed);
  const planOf = (text: string): string => {
    const steps = database.prepare(`explain query plan ${text}`).all();
    return `${steps.map((step) => String(step['detail'])).join('; ')}: ${text}`;
  };
  return {
    store,
    async plansOf(questions) {
      /* A store prepares each statement once, so a new one prepares all that it runs. */
      const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
      using asked = sqliteStore(path);
      for (const { ask } of questions) await ask(asked);
      const texts = prepare.mock.calls.map(([text]) => text);
      prepare.mockRestore();
      return texts.map(planOf);
    },
    async [Symbol.asyncDispose]() {
      store.close();
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const fewThreads = [seedThreads, seedEntries];

interface PlanStep {
  'Node Type': string;
  'Index Name'?: string;
  'Relation Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  Plans?: PlanStep[];
}

function stepsOf({ Plans: below = [], ...step }: PlanStep): string[] {
  const [{ 'Actual Rows': rows = 0, 'Actual Loops': loops = 0 } = {}] = below;
  const of = step['Index Name'] ?? step['Relation Name'] ?? `of ${Math.round(rows * loops)} rows`;
  return [`${step['Node Type']} ${of}`, ...below.flatMap(stepsOf)];
}

/** A Postgres database that these statements fill. */
async function explainedPostgres(seeds: readonly string[] = fewThreads): Promise<Explained> {
  const server = sharedPostgres();
  const pool = server.pool(await server.createDatabase());
  await pool.query(postgresSchema);
  for (const seed of seeds) await pool.query(seed);
  await pool.query('vacuum analyze');
  /* Run, as it is then known how many rows are sorted, and undone. */
  const planOf = async ({ text, values }: Query): Promise<string> => {
    const connection = await pool.connect();
    await connection.query('begin');
    const { rows } = await connection.query(`explain (analyze, format json) ${text}`, values);
    await connection.query('rollback');
    connection.release();
    return `${stepsOf(rows[0]?.['QUERY PLAN'][0].Plan).join('; ')}: ${text}`;
  };
  return {
    store: postgresStore(pool, { createSchema: false }),
    async plansOf(questions) {
      const queries: Query[] = [];
      const recording: PostgresPool = {
        connect: async () => pool.connect(),
        query: async (query) => {
          queries.push(query);
          return pool.query(query);
        },
      };
      const asked = postgresStore(recording, { createSchema: false });
      for (const { ask } of questions) await ask(asked);
      const plans: string[] = [];
      for (const query of queries) plans.push(await planOf(query));
      return plans;
    },
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  };
}

/** The questions whose fastest answer of five took longer than `ms`. */
async function slowerThan(ms: number, store: ThreadStore, questions: Question[]) {
  const slow: string[] = [];
  for (const { name, ask } of questions) {
    let fastest = Infinity;
    for (let round = 0; round < 5 && fastest > ms; round += 1) {
      const started = performance.now();
      await ask(store);
      fastest = Math.min(fastest, performance.now() - started);
    }
    if (fastest > ms) slow.push(`${name}: ${fastest.toFixed(1)} ms`);
  }
  return slow;
}

const pages = [...plainPages, ...timedPages];

/* Without an index SQLite scans the table and Postgres does a "Seq Scan"; a "Bitmap Heap Scan" has an index below it. */
describe.each([
  {
    name: 'sqliteStore',
    open: explainedSqlite,
    withoutIndex: /SCAN (?!CONSTANT ROW|\w+ VIRTUAL TABLE)\w+(?! USING)\b/,
  },
  {
    name: 'postgresStore',
    open: async () => explainedPostgres(),
    withoutIndex: /Seq Scan holdpoint_(?!request)/,
  },
])('$name with 100,000 threads', ({ open, withoutIndex }) => {
  let explained: Explained;
  beforeAll(async () => {
    explained = await open();
  }, 120_000);
  afterAll(async () => explained[Symbol.asyncDispose](), 60_000);

  test.each([
    ['pages', pages],
    ['counts of few threads', fewCounts],
    ['reads, appends, claims and deletes', pointQuestions],
  ])('answers %s by an index', async (_, questions) => {
    const plans = await explained.plansOf(questions);
    expect(plans.length).toBeGreaterThan(5);
    expect(plans.filter((plan) => withoutIndex.test(plan))).toEqual([]);
  });

  /* Six times what the slowest of them takes on a machine with two cores. */
  test('gives each page of an inbox in 50 ms, and each that is about times in 200', async () => {
    expect(await slowerThan(50, explained.store, plainPages)).toEqual([]);
    expect(await slowerThan(200, explained.store, timedPages)).toEqual([]);
  });

  test('counts few in 50 ms, and all in 200', async () => {
    const all: Question = { name: 'all', ask: async (store) => store.count({}) };
    expect(await slowerThan(50, explained.store, fewCounts)).toEqual([]);
    expect(await slowerThan(200, explained.store, [all])).toEqual([]);
    expect(await explained.store.count({})).toBe(100_000);
  });

  test('claims in 50 ms, also where nothing is due', async () => {
    const claims = pointQuestions.filter(({ name }) => name.startsWith('claim'));
    expect(claims).toHaveLength(3);
    expect(await slowerThan(50, explained.store, claims)).toEqual([]);
  });
});

/** Prints how long the fastest answer of five took. Returns the questions about pages that are empty. */
async function timeQuestions(store: ThreadStore, questions: Question[]): Promise<string[]> {
  const empty = new Set<string>();
  for (const { name, ask } of questions) {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now();
      const page = await ask(store);
      times.push(performance.now() - started);
      if (Array.isArray(page) && page.length === 0) empty.add(name);
    }
    console.log(`${Math.min(...times).toFixed(1)} ms: ${name}`);
  }
  return [...empty];
}

/** How often rows are sorted, other than the ids of rows of one time. */
function countSorts(plan: string): number {
  return plan.split('TEMP B-TREE FOR ORDER BY').length - 1;
}

/* Postgres may know that a tenant has fewer requests than the agent. */
async function expectOnlyRowsOfAgent(explained: Explained): Promise<void> {
  const plans = await explained.plansOf([...rareAgentPages, ...rareDecisionPages]);
  const ordered = plans.filter((plan) => plan.includes(' order by '));
  expect(ordered.length).toBeGreaterThan(10);
  const isOfAgent = /holdpoint_requests_(?:by_agent|of_agent_by_decision|of_tenant_by_\w+)[ :;]/;
  expect(ordered.filter((plan) => !isOfAgent.test(plan))).toEqual([]);
}

describe('sqliteStore with 100,000 open requests among 100,000 threads, and as many decided', () => {
  let explained: Explained;
  beforeAll(async () => {
    explained = await explainedSqlite();
  }, 120_000);
  afterAll(async () => explained[Symbol.asyncDispose](), 60_000);

  /* `page` is what the scans for each name have found, `few` what is counted; the lists of names come from JSON. */
  const withoutIndex = /SCAN (?!CONSTANT ROW|page\b|few\b|\w+ VIRTUAL)\w+(?! USING)\b/;

  test.each([
    ['pages', [...orderedRequestPages, ...rareDecisionPages], 0],
    ['pages for a person, of which only what was found is sorted', approverPages, 1],
    ['pages of a thread, whose rows are sorted', threadRequestPages, 1],
    ['pages of an agent with few requests, which are sorted', rareAgentPages, 1],
    ['counts, rows and the feed', requestPoints, 0],
  ])('answers %s by an index', async (_, questions, sorts) => {
    const plans = await explained.plansOf(questions);
    expect(plans.length).toBeGreaterThan(10);
    expect(plans.filter((plan) => withoutIndex.test(plan))).toEqual([]);
    expect(plans.filter((plan) => countSorts(plan) > sorts)).toEqual([]);
  });

  test('reads only the rows of an agent for its pages, if they are few', async () => {
    await expectOnlyRowsOfAgent(explained);
  });

  test('finds rows for each page in any order', async () => {
    const pagesInOrder = [
      ...orderedRequestPages,
      ...approverPages,
      ...rareAgentPages,
      ...rareDecisionPages,
    ];
    expect(await timeQuestions(explained.store, pagesInOrder)).toEqual([]);
  });
});

describe('postgresStore with 100,000 open requests among 1,000,000 threads, and as many decided', () => {
  let explained: Explained;
  beforeAll(async () => {
    explained = await explainedPostgres(seedManyOnPostgres);
  }, 240_000);
  afterAll(async () => explained[Symbol.asyncDispose](), 60_000);

  test.each([
    [
      'pages',
      [
        ...orderedRequestPages,
        ...approverPages,
        ...threadRequestPages,
        ...rareAgentPages,
        ...rareDecisionPages,
      ],
    ],
    ['rows and the feed', requestPoints.filter(({ name }) => !name.startsWith('count'))],
    ['appends, claims and deletes', pointQuestions],
  ])(
    "answers %s by an index, and sorts no more than a page for each of a person's names",
    async (_, questions) => {
      const plans = await explained.plansOf(questions);
      expect(plans.length).toBeGreaterThanOrEqual(questions.length);
      const scan = /Seq Scan holdpoint_/;
      expect(plans.filter((plan) => scan.test(plan))).toEqual([]);
      expect(plans.filter((plan) => /\bSort of (?:[5-9]\d\d|\d{4})/.test(plan))).toEqual([]);
    },
  );

  test('reads only the rows of an agent for its pages, if they are few', async () => {
    await expectOnlyRowsOfAgent(explained);
  });

  test('finds rows for each page in any order', async () => {
    const pagesInOrder = [
      ...orderedRequestPages,
      ...approverPages,
      ...rareAgentPages,
      ...rareDecisionPages,
    ];
    expect(await timeQuestions(explained.store, pagesInOrder)).toEqual([]);
    await timeQuestions(explained.store, requestPoints);
  });
});
