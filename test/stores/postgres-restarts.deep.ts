import { describeChanges } from '../../src/testing/conformance/requests-in-case.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listening } from '../support/listening.ts';
import { appendPlain } from '../support/plain-entries.ts';
import { PostgresServer } from '../support/postgres-server.ts';
import { appendRows, opened, requestsOf } from '../support/row-requests.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';

/* A server of its own: the shared one has other tests' connections. */
let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(async () => server[Symbol.asyncDispose](), 60_000);

test('an append that has resolved survives a crash of the server, even where commits do not wait', async () => {
  const database = await server.createDatabase();
  const hasty = server.pool(database, { options: '-c synchronous_commit=off' });
  const store = postgresStore(hasty);
  for (let revision = 1; revision <= 5; revision++) await appendPlain(store, 't', { revision });
  await hasty.query('create table unflushed ()');
  await server.crash();
  expect(await store.read('t')).toHaveLength(5);
  await expect(hasty.query('select from unflushed')).rejects.toThrow('does not exist');
});

test('what a reader of the feed was told survives a crash of the server, even where commits do not wait', async () => {
  const database = await server.createDatabase();
  const hasty = server.pool(database, { options: '-c synchronous_commit=off' });
  const store = postgresStore(hasty);
  const requests = requestsOf(store);
  await appendRows(store, 't', [opened('a'), opened('b')]);
  const told = await requests.changes({ after: 0 });
  await hasty.query('create table unflushed ()');
  await server.crash();
  await expect(hasty.query('select from unflushed')).rejects.toThrow('does not exist');
  /* Given again, they could be those of other changes. */
  const lost = 'select from holdpoint_request_changes where position is null';
  expect((await hasty.query(lost)).rowCount).toBe(0);
  await appendRows(store, 't', [opened('c')], 2);
  const after = await requests.changes({ after: 0 });
  expect(after.slice(0, 2)).toEqual(told);
  expect(describeChanges(after)).toEqual(['opened a', 'opened b', 'opened c']);
});

test('the server is restarted between request and answer: the thread goes on', async () => {
  const database = await server.createDatabase();
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const store = postgresStore(server.pool(database));
  const world = travelWorld(played, () => store);
  const agent = world.agent();
  const waiting = await agent.run('Book', await agent.thread('t'));
  await server.restart();
  const answers = waiting.approvalRequests.map((request) => request.approve());
  const response = await agent.run(answers, waiting.thread);
  expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(world.ran).toHaveLength(1);
});

test('a subscription waits for a server that is away, and can be ended while it does', async () => {
  const database = await server.createDatabase();
  const writer = postgresStore(server.pool(database));
  const { hears, stop } = listening(postgresStore(server.pool(database)));
  await hears(1);
  await server.restart();
  await hears(2);
  await appendPlain(writer, 't', { nextDeadline: 5 });
  await hears(3);
  await stop();
  const away = listening(postgresStore(server.pool('nowhere')));
  await turn();
  await away.stop();
  expect(away.heard).toEqual([]);
});
