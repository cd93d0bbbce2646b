import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pagesAt } from './markdown-page.ts';
import { AgentOffice, pay } from '../support/agent-office.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const [page] = pagesAt('docs/guides/one-postgres.md');
const queries = [...(page?.text ?? '').matchAll(/^```sql\n(.*?)\n```$/gms)].map(
  ([, query = '']) => query,
);

const server = sharedPostgres();
let pool: ReturnType<typeof server.pool>;
beforeAll(async () => {
  pool = server.pool(await server.createDatabase());
  const store = postgresStore(pool);
  const office = new AgentOffice(store);
  const payer = office.payer('payer', [{ calls: [pay('p', 'Ann')] }, { text: 'Paid.' }]);
  await payer.run('Pay.', await payer.thread('waits'));
  const due = office.payer('payer', [{ calls: [pay('p', 'Ann')] }]);
  const { approvalRequests, thread } = await due.run('Pay.', await due.thread('due'));
  await due.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await store.requests?.take({ consumer: 'mailer', leaseMs: 1, limit: 1 });
});
afterAll(async () => server[Symbol.asyncDispose]());

const read = async (about: RegExp): Promise<unknown[]> => {
  const query = queries.find((text) => about.test(text));
  return (await pool.query(query ?? '')).rows;
};

test('the page has five queries', () => expect(queries).toHaveLength(5));

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
  expect(Number(Reflect.get(Object(row), 'longest_ms'))).toBeGreaterThanOrEqual(0);
});

test('it says how far readers of the feed are behind', async () => {
  expect(await read(/as behind/)).toEqual([{ name: 'mailer', behind: '3' }]);
});

test('it says what is due, and how large each table is', async () => {
  const [due] = await read(/as due/);
  expect(due).toMatchObject({ agent: 'payer', due: '1' });
  expect(Number(Reflect.get(Object(due), 'longest_ms'))).toBeLessThan(60_000);
  const sizes = await read(/n_dead_tup/);
  expect(sizes).toContainEqual(
    expect.objectContaining({ relname: 'holdpoint_threads', notices: 0 }),
  );
});
