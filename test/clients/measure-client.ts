import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createGate } from 'holdpoint/mcp';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';
import { serveGateOverHttp } from '../../src/apps/command/gate-http.ts';
import { type AgentServer, answerCall } from '../gate/coding-agents.ts';
import { clients } from './run-client.ts';

/** How a client reaches its server. */
type TableTransport = 'stdio' | 'HTTP';

/** A client to measure. */
interface Measured {
  client: string;
  transport: TableTransport;
  /** Where the coding agents are installed. */
  packages: string;
}

/** How long a client waited for a result, to five seconds, and whether it got it. */
interface Wait {
  seconds: number;
  isPaid: boolean;
  hasToken: boolean;
}

const toldSchema = z.object({
  url: z.string().optional(),
  calledAt: z.number().optional(),
  hasToken: z.boolean().optional(),
  action: z.string().optional(),
});

const waitingServer = join(import.meta.dirname, 'waiting-server-process.ts');
const node = '--conditions=holdpoint-source';

/** Has a client call a tool that returns after so many seconds. */
export async function measureWait(
  measured: Measured,
  kind: 'silence' | 'progress',
  seconds: number,
): Promise<Wait> {
  const { told, results } = await runWithServer(measured, kind, seconds);
  const calledAt = told.find((each) => each.calledAt !== undefined)?.calledAt;
  const [first] = results;
  if (calledAt === undefined || first === undefined) throw new Error('It did not call the tool.');
  return {
    /* The server and the client do not begin to count at once. */
    seconds: 5 * Math.round((first.at - calledAt) / 5_000),
    isPaid: first.text.includes('Paid.'),
    hasToken: told.some(({ hasToken }) => hasToken),
  };
}

/** Has a client call a tool that asks it to show a page. What it answered; `undefined` if it can't show any. */
export async function measurePage(measured: Measured): Promise<string | undefined> {
  const { told } = await runWithServer(measured, 'url', 0);
  return told.find(({ action }) => action !== undefined)?.action;
}

/** Has a client call a gate that says "pending" after two seconds, and approves. How many calls it made; `undefined` if it did not get the result. */
export async function measurePending(measured: Measured): Promise<number | undefined> {
  return inFolder(async (folder) => {
    const [file, ledger] = [join(folder, 'gate.sqlite'), join(folder, 'ledger')];
    writeFileSync(ledger, '');
    const { server, stop } = await startGate(measured.transport, file, ledger);
    const results: string[] = [];
    const isPending = Promise.withResolvers<void>();
    const running = runClient(measured, { server, folder, followsProgress: false }, (text) => {
      results.push(text);
      isPending.resolve();
    });
    await isPending.promise;
    await answerCall(file, true);
    await running;
    await stop?.();
    const payments = readFileSync(ledger, 'utf8').split('\n').length - 1;
    return results.at(-1)?.includes('Paid.') === true && payments === 1
      ? results.length
      : undefined;
  });
}

async function startGate(transport: TableTransport, file: string, ledger: string) {
  const folder = join(import.meta.dirname, '..', 'gate');
  if (transport === 'stdio') {
    const args = [node, join(folder, 'gate-process.ts'), file, ledger, '2000'];
    return { server: { command: process.execPath, args } };
  }
  const bank = { command: process.execPath, args: [join(folder, 'bank-process.ts'), ledger] };
  const gate = createGate({
    store: sqliteStore(file),
    holdMs: 2_000,
    upstreams: { bank },
    authorize: () => ({ principal: 'ada' }),
  });
  const { url, close } = await serveGateOverHttp(gate, 0);
  return {
    server: { url },
    stop: async (): Promise<void> => {
      await close();
      await gate.close();
    },
  };
}

async function runWithServer(measured: Measured, kind: string, seconds: number) {
  return inFolder(async (folder) => {
    const file = join(folder, 'told');
    writeFileSync(file, '');
    const readTold = () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => toldSchema.parse(JSON.parse(line)));
    const args = [node, waitingServer, kind, String(seconds), file];
    const results: { text: string; at: number }[] = [];
    const run = async (server: AgentServer) =>
      runClient(
        measured,
        { server, folder, followsProgress: kind === 'progress' },
        (text) => void results.push({ text, at: Date.now() }),
      );
    if (measured.transport === 'stdio') await run({ command: process.execPath, args });
    else {
      const child = spawn(process.execPath, [...args, 'http'], { stdio: 'ignore' });
      let url: string | undefined;
      for (; url === undefined; await setTimeout(50)) url = readTold()[0]?.url;
      await run({ url });
      child.kill();
    }
    return { told: readTold(), results };
  });
}

async function runClient(
  { client, packages }: Measured,
  given: { server: AgentServer; folder: string; followsProgress: boolean },
  onResult: (text: string) => void,
): Promise<void> {
  await clients[client]?.run({ ...given, packages }, onResult);
}

async function inFolder<RESULT>(use: (folder: string) => Promise<RESULT>): Promise<RESULT> {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
