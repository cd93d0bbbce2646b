import { join } from 'node:path';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { recordPayments } from './recorded-payments.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());
const rules = join(import.meta.dirname, 'rules', 'payment-rules.ts');

test('the command reads threads from Postgres, and creates no tables', async () => {
  const database = await server.createDatabase();
  const args = [
    'backtest',
    rules,
    '--postgres',
    server.connectionString(database),
    '--agent',
    'bank',
  ];
  const empty = await runCommand(args);
  expect(empty).toMatchObject({ status: 2, error: expect.stringContaining('does not exist') });
  const store = postgresStore(server.pool(database));
  await recordPayments('t1', [{ input: { to: 'eve', amount: 50 }, answer: 'no' }], { store });
  const ended = await runCommand(args);
  expect(ended).toMatchObject({ status: 1, output: expect.stringContaining('rejected 1 of them') });
});
