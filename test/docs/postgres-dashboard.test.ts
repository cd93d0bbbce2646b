import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pagesAt } from './markdown-page.ts';
import { AgentOffice, pay } from '../support/agent-office.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const [page] = pagesAt('docs/guides/one-postgres.md');
const queries = [...(page?.text ?? '').matchAll(/^```sql\n(.*?)\n```$/gms)].map(
  ([, query = '']) => query,
);

/* The agents' clock is an hour behind the server's, which the queries read. */
const hourMs = 3_600_000;
const server = sharedPostgres();
let pool: ReturnType<typeof server.pool>;
beforeAll(async () => {
  pool = server.pool(await server.createDatabase());
  const store = postgresStore(pool);
  const office = new AgentOffice(store);
  const { rows } = await pool.query('select extract(epoch from clock_timestamp()) * 1000 as ms');
  const startedAt = Math.floor(Number(rows[0].ms)) - hourMs;
  const now = (): number => startedAt;
  const script = [{ calls: [pay('p', 'Ann')] }, { text: 'Paid.' }];
  const payer = office.payer('payer', script, { now });
  await payer.run('Pay.', await payer.thread('waits'));
  const due = office.payer('payer', [{ calls: [pay('p', 'Ann')] }], { now });
  const { approvalRequests, thread } = await due.run('Pay.', await due.thread('due'));
  await due.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
});
afterAll(async () => server[Symbol.asyncDispose]());

const read = async (about: RegExp): Promise<unknown[]> => {
  const query = queries.find((text) => about.test(text));
  return (await pool.query(query ?? '')).rows;
};

function expectAnHour(row: unknown): void {
  const longestMs = Number(Reflect.get(Object(row), 'longest_ms'));
  expect(longestMs).toBeGreaterThanOrEqual(hourMs);
  expect(longestMs).toBeLessThan(2 * hourMs);
}

test('the page has four queries', () => expect(queries).toHaveLength(4));

test('it counts threads that need something', async () => {
  expect(await read(/status, count/)).toEqual(
    expect.arrayContaining([
      { agent: 'payer', status: 'waiting', threads: '1' },
      { agent: 'payer', status: 'due', threads: '1' },
    ]),
  );
});

test('it says what people have to answer, and for how long', async () => {
  const [row] = await read(/as open/);
  expect(row).toMatchObject({ agent: 'payer', open: '1' });
  expectAnHour(row);
});

test('it says what is due, and how large each table is', async () => {
  const [due] = await read(/as due/);
  expect(due).toMatchObject({ agent: 'payer', due: '1' });
  expectAnHour(due);
  const sizes = await read(/n_dead_tup/);
  expect(sizes).toContainEqual(
    expect.objectContaining({ relname: 'holdpoint_threads', notices: expect.closeTo(0, 3) }),
  );
});
