import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { openAnsweringAgent } from '../../src/apps/command/answering-agent.ts';
import { AgentOffice, pay } from '../support/agent-office.ts';
import { runCommand } from '../support/run-holdpoint.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { fillOffice } from './office.ts';

const server = sharedPostgres();
afterAll(async () => server[Symbol.asyncDispose]());
let database: string;
beforeAll(async () => {
  database = await server.createDatabase();
  await fillOffice(postgresStore(server.pool(database)));
});

/** Runs a command with the database in the environment, as somebody if not as its owner. */
async function holdpoint(args: readonly string[], role?: string) {
  const url = new URL(server.connectionString(database));
  if (role !== undefined) url.searchParams.set('options', `-c role=${role}`);
  return runCommand(args, { env: { DATABASE_URL: url.href } });
}

test('requests in Postgres are listed, shown and answered', async () => {
  const { output } = await holdpoint(['list', '--thread', 'invoice-7', '--json']);
  const { requestId } = JSON.parse(output).requests[0];
  const { digest } = JSON.parse((await holdpoint(['show', requestId, '--json'])).output);
  const answer = ['answer', requestId, '--as', 'ben', '--digest', digest, '--approve'];
  expect(await holdpoint(answer)).toEqual({
    status: 0,
    output: 'Recorded: approved.\n',
    error: '',
  });
  expect(await holdpoint(['verify'])).toMatchObject({
    status: 0,
    output: expect.stringContaining('4 sound, 0 with a fault'),
  });
});

test('a request that has expired by the clock of the server is not answered from a machine whose clock is behind', async () => {
  const behind = Date.now() - 3_600_000;
  const store = postgresStore(server.pool(await server.createDatabase()));
  const office = new AgentOffice(store);
  const toolApproval = { pay: { type: 'user-approval', expiresAfterMs: 60_000 } } as const;
  const payer = office.agent('payer', [{ calls: [pay('c1', 'Ann')] }], {
    tools: { pay: office.pay },
    toolApproval,
    now: () => behind,
  });
  const { approvalRequests } = await payer.run('Pay.', await payer.thread('t'));
  const clock = vi.spyOn(Date, 'now').mockReturnValue(behind);
  onTestFinished(() => clock.mockRestore());
  const agent = await openAnsweringAgent(store, 'payer', {
    as: 'ben',
    rules: undefined,
    now: undefined,
  });
  const answering = agent.respond(
    approvalRequests.map((request) => request.approve()),
    await agent.thread('t'),
    { principal: 'ben' },
  );
  await expect(answering).rejects.toMatchObject({ code: 'request-closed' });
});

test('a role that may only read lists, shows, verifies and exports, and answers nothing', async () => {
  const role = `${database}_reader`;
  await server
    .pool(database)
    .query(`create role ${role}; grant select on all tables in schema public to ${role}`);
  const { output } = await holdpoint(['list', '--thread', 'wall', '--json'], role);
  const { requestId } = JSON.parse(output).requests[0];
  const { digest } = JSON.parse((await holdpoint(['show', requestId, '--json'], role)).output);
  expect(await holdpoint(['verify'], role)).toMatchObject({ status: 0 });
  expect(await holdpoint(['export'], role)).toMatchObject({ status: 0 });
  const answer = ['answer', requestId, '--as', 'ben', '--digest', digest, '--option', 'red'];
  expect(await holdpoint(answer, role)).toMatchObject({
    status: 2,
    error: expect.stringContaining('permission denied'),
  });
});

test('a database without threads gets no tables', async () => {
  const empty = await server.createDatabase();
  for (const command of ['list', 'verify']) {
    const env = { DATABASE_URL: server.connectionString(empty) };
    expect(await runCommand([command], { env })).toMatchObject({
      status: 2,
      error: expect.stringContaining('does not exist'),
    });
  }
  const text = `select count(*)::int as count from pg_tables where schemaname = 'public'`;
  expect((await server.pool(empty).query(text)).rows).toEqual([{ count: 0 }]);
});
