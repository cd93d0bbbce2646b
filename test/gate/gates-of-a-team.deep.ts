import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { postgresStore } from 'holdpoint/stores/postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitFor } from '../support/waiting.ts';
import { readTexts } from './gate-world.ts';
import { openTeamGate } from './team-gate.ts';

/* Two or three gates of a team, each a process of its own, in front of a bank each, on one Postgres. People answer beside them. */

const program = join(import.meta.dirname, 'team-gate-process.ts');
const ledger = join(mkdtempSync(join(tmpdir(), 'holdpoint-team-')), 'ledger');
const server = sharedPostgres();
let database = '';
let office: ReturnType<typeof openTeamGate>;

beforeAll(async () => {
  database = await server.createDatabase();
  office = openTeamGate(postgresStore(server.pool(database)), ledger, 45_000);
});
afterAll(async () => {
  await office.close();
  await server[Symbol.asyncDispose]();
});

/** Starts a gate, which is killed when the test has finished, if not before. */
async function startGate(holdMs = 45_000) {
  const child = spawn(
    process.execPath,
    [
      '--conditions=holdpoint-source',
      program,
      server.connectionString(database),
      ledger,
      `${holdMs}`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const [host] = await once(createInterface(child.stdout), 'line');
  const connect = async (user: string, mode: 'auto' | 'legacy' = 'auto') => {
    const client = new Client(
      { name: 'claude-code', version: '1' },
      { versionNegotiation: { mode } },
    );
    const url = new URL(`http://${String(host)}/mcp`);
    const requestInit = { headers: { 'x-user': user } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    await client.listTools();
    return async (euros: number): Promise<string> =>
      readTexts(await client.callTool({ name: 'pay', arguments: { euros } })).join();
  };
  return { kill, connect };
}

/** What Ben may answer. */
async function listOpen() {
  const { requests } = await office.agent.requests({ principal: 'ben', as: ['finance'] });
  return requests.flatMap(({ request }) => (request?.type === 'approval-request' ? [request] : []));
}

/** The open requests about this payment, once there are so many. */
async function findRequests(euros: number, count = 1) {
  return waitFor(async () => {
    const found = (await listOpen()).filter(
      ({ toolCall }) => JSON.stringify(toolCall?.input) === JSON.stringify({ euros }),
    );
    expect(found).toHaveLength(count);
    return found;
  });
}

type Request = Awaited<ReturnType<typeof findRequests>>[number];

async function approve(request: Request | undefined, principal: string): Promise<void> {
  if (request === undefined) throw new Error('Nothing is asked.');
  const thread = await office.agent.thread(request.threadId);
  await office.agent.respond(request.approve(), thread, { principal });
}

function countPayments(euros: number): number {
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n') : [];
  return lines.filter((line) => line.endsWith(JSON.stringify({ euros }))).length;
}

const refused = { code: 'not-allowed' };

test('a call is approved by somebody of the approvers, and not by who asked, whichever gate holds it', async () => {
  const gates = await Promise.all([startGate(), startGate()]);
  for (const [euros, gate] of gates.entries()) {
    const ada = await gate.connect('ada');
    const paying = ada(euros);
    const [request] = await findRequests(euros);
    expect(request).toMatchObject({ requestedBy: 'ada' });
    await expect(approve(request, 'ada')).rejects.toMatchObject(refused);
    await expect(approve(request, 'eve')).rejects.toMatchObject(refused);
    expect(countPayments(euros)).toBe(0);
    await approve(request, 'ben');
    expect(await paying).toBe('Paid.');
    expect(countPayments(euros)).toBe(1);
  }
});

test('a call that one gate was told to make again is collected from another one', async () => {
  const [first, second] = await Promise.all([startGate(500), startGate()]);
  expect(await (await first.connect('ada', 'legacy'))(10)).toMatch(/^Pending/);
  const [request] = await findRequests(10);
  await approve(request, 'ben');
  const [bo, ada] = [await second.connect('bo'), await second.connect('ada', 'legacy')];
  const other = bo(10);
  expect(await ada(10)).toBe('Paid.');
  const [own] = await findRequests(10);
  expect(own).toMatchObject({ requestedBy: 'bo' });
  expect(countPayments(10)).toBe(1);
  await approve(own, 'ben');
  expect(await other).toBe('Paid.');
  expect(countPayments(10)).toBe(2);
});

test('equal calls of two people, and of one through two gates, are calls of their own', async () => {
  const [first, second] = await Promise.all([startGate(), startGate()]);
  const people = [
    await first.connect('ada'),
    await second.connect('ada'),
    await first.connect('bo'),
    await second.connect('bo'),
  ];
  const paying = people.map(async (pay) => pay(20));
  const requests = await findRequests(20, 4);
  const asked = requests.map(({ requestedBy }) => requestedBy);
  expect(asked.filter((each) => each === 'ada')).toHaveLength(2);
  for (const request of requests)
    await expect(approve(request, String(request.requestedBy))).rejects.toMatchObject(refused);
  for (const request of requests) await approve(request, 'ben');
  expect(await Promise.all(paying)).toEqual(['Paid.', 'Paid.', 'Paid.', 'Paid.']);
  expect(countPayments(20)).toBe(4);
});

test('the call of a gate that is killed is taken up from another one by its person, and by nobody else', async () => {
  const [first, second] = await Promise.all([startGate(), startGate()]);
  const lost = (await first.connect('ada'))(30);
  lost.catch(() => {});
  const [request] = await findRequests(30);
  await first.kill();
  await expect(lost).rejects.toThrow();
  const [ada, bo] = [await second.connect('ada'), await second.connect('bo')];
  const paying = [ada(30), bo(30)];
  const requests = await findRequests(30, 2);
  const own = requests.find(({ requestedBy }) => requestedBy === 'bo');
  await approve(request, 'ben');
  expect(await paying[0]).toBe('Paid.');
  expect(countPayments(30)).toBe(1);
  await approve(own, 'ben');
  expect(await paying[1]).toBe('Paid.');
  expect(countPayments(30)).toBe(2);
});

test('the log of the team is sound, and nothing is left open', async () => {
  const verified = await runCommand(['verify', '--postgres', server.connectionString(database)]);
  expect(verified).toMatchObject({ status: 0, error: '' });
  expect(await listOpen()).toEqual([]);
});
