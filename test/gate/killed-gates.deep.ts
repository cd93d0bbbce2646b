import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { AgentThread, ThreadStore } from 'holdpoint';
import { createGate, type Gate } from 'holdpoint/mcp';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { expect, test } from 'vitest';
import { runCommand } from '../support/run-holdpoint.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { waitUntil } from '../support/waiting.ts';
import { connect, readTexts } from './gate-world.ts';

/** Who is killed during a call, and when. */
interface Death {
  name: string;
  /** Before or after which append the gate dies. */
  append?: string;
  /** When the bank kills itself or its gate. */
  fate?: string;
  /** Whom the test kills. */
  kills?: 'gate' | 'client';
  /** At which step the test does: the call has been sent, somebody is asked, has said yes, the bank pays. */
  step?: 'sent' | 'asked' | 'approved' | 'paying';
}

/* More appends than the gate makes for a call that asks. */
const appends = [1, 2, 3, 4, 5, 6, 7, 8];

const deaths: Death[] = [
  ...appends.flatMap((append) =>
    ['before', 'after'].map((when) => ({
      name: `the gate ${when} append ${append}`,
      append: `${append} ${when}`,
    })),
  ),
  ...['gate', 'bank'].flatMap((who) =>
    ['before payment', 'after payment', 'after answer'].map((when) => ({
      name: `the ${who} ${when}`,
      fate: `${who} ${when}`,
    })),
  ),
  ...(['sent', 'asked', 'approved', 'paying'] as const).flatMap((step) =>
    (['gate', 'client'] as const).map((kills) => ({
      name: `the ${kills} once it is ${step}`,
      kills,
      step,
      ...(step === 'paying' && { fate: 'slow' }),
    })),
  ),
];

/** What became of a call. */
interface End {
  name: string;
  /** Whether its first client was told nothing. */
  isKilled: boolean;
  /** The first words of what was told at last. */
  told: string;
  /** How often the bank has paid. */
  effects: number;
  /** How many calls the log has, and how many requests. */
  calls: number;
  requests: number;
  /** How the call ended, if it could not be told. */
  status: string;
}

/** Where the calls are kept, and the gate that is not killed. */
interface Ground {
  folder: string;
  /** The place of the calls, for another process. */
  place: string;
  store: ThreadStore;
  gate: Gate;
  /** The ledger of its bank. */
  ledger: string;
}

const bank = join(import.meta.dirname, 'bank-process.ts');
const caller = { principal: 'ada', place: process.cwd() };

function openGround(folder: string, place: string, store: ThreadStore): Ground {
  const ledger = join(folder, 'ledger');
  const gate = createGate({
    store,
    leaseMs: 2_000,
    pollMs: 100,
    upstreams: { bank: { command: process.execPath, args: [bank, ledger] } },
  });
  return { folder, place, store, gate, ledger };
}

/** The only call of this payment, and the others. */
async function findCalls({ store, gate }: Ground, euros: number): Promise<AgentThread[]> {
  const rows = await store.list({ agent: 'gate', limit: 1_000 });
  const threads = await Promise.all(rows.map(async ({ threadId }) => gate.agent.thread(threadId)));
  return threads.filter(({ messages }) => JSON.stringify(messages).includes(`{"euros":${euros}}`));
}

/** Approves what is asked about this payment. Resolves whether anything was. */
async function approve(ground: Ground, euros: number): Promise<boolean> {
  const { agent } = ground.gate;
  const { requests } = await agent.requests({ principal: 'boss' });
  const found = requests.filter(
    ({ request }) =>
      request?.type === 'approval-request' &&
      JSON.stringify(request.toolCall?.input) === `{"euros":${euros}}`,
  );
  for (const { request, row } of found) {
    if (request?.type !== 'approval-request') continue;
    await agent.respond(request.approve(), await agent.thread(row.threadId), { principal: 'boss' });
  }
  return found.length > 0;
}

function countPayments(files: readonly string[], euros: number): number {
  const lines = files.flatMap((file) =>
    existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [],
  );
  return lines.filter((line) => line.endsWith(`{"euros":${euros}}`)).length;
}

/** Starts a client of a gate of its own process; `told` resolves with `undefined` if one of the two dies first. */
function startClient(args: readonly string[], euros: number) {
  const client = new Client({ name: 'driver', version: '1' });
  const program = join(import.meta.dirname, 'gate-process.ts');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['--conditions=holdpoint-source', program, ...args],
    stderr: 'inherit',
  });
  const call = async (): Promise<string | undefined> => {
    await client.connect(transport);
    return readTexts(await client.callTool({ name: 'pay', arguments: { euros } }))[0];
  };
  return {
    told: call().catch(() => undefined),
    kill: () => process.kill(transport.pid ?? 0, 'SIGKILL'),
    close: async () => client.close(),
  };
}

/** Starts a client in a process of its own, which starts the gate. */
function startClientProcess(args: readonly string[], euros: number) {
  const program = join(import.meta.dirname, 'paying-client-process.ts');
  const child: ChildProcess & { stdout: NonNullable<ChildProcess['stdout']> } = spawn(
    process.execPath,
    ['--conditions=holdpoint-source', program, String(euros), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  return {
    told: text(child.stdout).then((output) => output.trim() || undefined),
    kill: () => child.kill('SIGKILL'),
    close: async () => {},
  };
}

/** Kills somebody during a call of this payment, and lets another client call again until it is told what became of it. */
async function playDeath(ground: Ground, death: Death, euros: number): Promise<End> {
  const { name, append = '', fate = '', kills, step } = death;
  const ledger = join(ground.folder, `ledger-${euros}`);
  const args = [ground.place, ledger, '45000', append, fate];
  const first = (kills === 'client' ? startClientProcess : startClient)(args, euros);
  let isOver = false;
  void first.told.finally(() => (isOver = true));
  const killAt = (at: Death['step']): unknown => step === at && first.kill();
  const reach = async (isReached: () => Promise<boolean>): Promise<boolean> => {
    await waitUntil(async () => isOver || (await isReached()), { interval: 20 });
    return !isOver;
  };
  await reach(async () => (await findCalls(ground, euros)).length > 0);
  killAt('sent');
  const isAsked = async (): Promise<boolean> =>
    (await findCalls(ground, euros)).some(({ activeRequests }) => activeRequests.length > 0);
  if (await reach(isAsked)) {
    killAt('asked');
    /* The answer to a call whose gate has died comes while the next client calls. */
    if (step !== 'asked' && step !== 'sent') await approve(ground, euros);
    killAt('approved');
    if (step === 'paying') await reach(async () => countPayments([ledger], euros) > 0);
    killAt('paying');
  }
  let told = await first.told;
  const isKilled = told === undefined;
  /* A bank that outlives its gate pays all the same. */
  writeFileSync(`${ledger}.go`, '');
  await first.close();

  const client = await connect(ground.gate, caller, { name: 'driver' });
  const call = async (): Promise<string> => {
    const calling = client.callTool({ name: 'pay', arguments: { euros } });
    const hear = calling.then(() => true);
    while (!(await Promise.race([hear, setTimeout(100, false)]))) await approve(ground, euros);
    return readTexts(await calling)[0] ?? '';
  };
  for (let tries = 0; tries < 3 && (told === undefined || told.startsWith('Pending')); tries += 1)
    told = await call();
  const lost = told?.startsWith('It is unknown') === true;
  const found = await findCalls(ground, euros);
  const effects = countPayments([ledger, ground.ledger], euros);
  const [thread] = found;
  const [made] = thread?.calls ?? [];
  const status = made?.status ?? 'none';
  if (lost && thread !== undefined && made !== undefined) {
    const content = [{ type: 'text', text: `A person has found out: ${effects}` }];
    await ground.gate.agent.settle(
      thread,
      made.toolCallId,
      { status: 'succeeded', output: { content } },
      { principal: 'boss' },
    );
    expect(await call()).toBe(`A person has found out: ${effects}`);
  }
  await client.close();
  return {
    name,
    isKilled,
    told: (told ?? '').split(/[.:]| whether/)[0] ?? '',
    effects: countPayments([ledger, ground.ledger], euros),
    calls: found.length,
    requests: found.flatMap((each) => [...each.activeRequests, ...each.decisions]).length,
    status,
  };
}

/** Plays all deaths, a few at once. */
async function playDeaths(ground: Ground): Promise<End[]> {
  /* The tools of the bank are pinned before. */
  await (await connect(ground.gate, caller, { name: 'driver' })).listTools();
  const ends: End[] = [];
  const left = [...deaths.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      ends.push(await playDeath(ground, next[1], next[0] + 100));
  };
  await Promise.all([work(), work(), work(), work(), work()]);
  return ends;
}

const grounds: Record<string, (folder: string) => Promise<[place: string, ThreadStore]>> = {
  SQLite: async (folder) => {
    const file = join(folder, 'gate.sqlite');
    return [file, sqliteStore(file)];
  },
  Postgres: async () => {
    const server = sharedPostgres();
    const database = await server.createDatabase();
    return [server.connectionString(database), postgresStore(server.pool(database))];
  },
};

const paid = { told: 'Paid', effects: 1, status: 'succeeded' };
const unknown = {
  told: 'It is unknown',
  effects: expect.toBeOneOf([0, 1]),
  status: 'indeterminate',
};

test.each(Object.entries(grounds))(
  'whoever is killed at whatever step of a call, it takes effect at most once, its client is told truly, and nobody is asked twice (%s)',
  async (_name, open) => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-killed-gates-'));
    const [place, store] = await open(folder);
    const ground = openGround(folder, place, store);
    try {
      const ends = await playDeaths(ground);
      console.log(ends.map((end) => JSON.stringify(end)).join('\n'));
      for (const end of ends) {
        const { name, isKilled, told } = end;
        const how = told === paid.told ? paid : unknown;
        expect(end).toEqual({ name, isKilled, calls: 1, requests: 1, ...how });
      }
      const killed = ends.filter(({ isKilled }) => isKilled).map(({ name }) => name);
      expect(killed).not.toContain('the gate after append 8');
      expect(killed.length).toBeGreaterThan(16);
      const states = await store.list({ agent: 'gate', limit: 1_000 });
      expect(states.filter(({ status }) => status !== 'idle')).toEqual([]);
      const named = place.startsWith('postgres') ? '--postgres' : '--store';
      expect(await runCommand(['verify', named, place])).toMatchObject({ status: 0, error: '' });
    } finally {
      await ground.gate.close();
      rmSync(folder, { recursive: true });
    }
  },
);
