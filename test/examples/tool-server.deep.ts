import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Callback, post, Runtime } from '../rap-tools/runtime.ts';

const main = join(import.meta.dirname, '../../examples/tool-server/main.ts');

let folder: string;
let runtime: Runtime;
let server: ChildProcess;
let url: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdpoint-tools-'));
  runtime = await Runtime.start();
  const env = { ...process.env, HOLDPOINT_DEMO_DIR: folder, PORT: '0' };
  server = spawn(process.execPath, ['--conditions=holdpoint-source', main], {
    env: { ...env, ALLOWED_ORIGINS: runtime.origin },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (server.stdout === null) throw new Error('The server has no output.');
  for await (const line of createInterface(server.stdout)) {
    url = /http:\S+/.exec(line)?.[0] ?? '';
    break;
  }
});

afterEach(async () => {
  if (server.exitCode === null) {
    server.kill('SIGKILL');
    await once(server, 'exit');
  }
  await runtime.stop();
  await rm(folder, { recursive: true });
});

async function invoke(operation: string, id: string, input: object): Promise<void> {
  const body = runtime.invocation(operation, { id, arguments: input });
  expect((await fetch(post(url, body))).status).toBe(200);
}

async function selects({ json }: Callback, selected: number): Promise<string> {
  const response = await fetch(post(json.response_url, { id: json.id, selected }));
  expect(response.status).toBe(200);
  return (await runtime.next()).json.text;
}

test('the example deploys where the user says, and deletes without asking twice in a session', async () => {
  await invoke('deploy', '1', { service: 'shop' });
  const where = await runtime.next();
  expect(where.json.choices).toEqual(['Staging', 'Production', 'Nowhere']);
  expect(await selects(where, 0)).toBe('shop is deployed to Staging.');

  const backups = { service: 'shop', olderThanDays: 30 };
  await invoke('deleteBackups', '2', backups);
  const may = await runtime.next();
  expect(may.json.prompt).toBe('May I delete backups of shop that are older than 30 days?');
  const done = 'The backups of shop older than 30 days are deleted.';
  expect(await selects(may, 0)).toBe(done);
  await invoke('deleteBackups', '3', backups);
  expect((await runtime.next()).json.text).toBe(done);
  await invoke('deleteBackups', '4', { ...backups, olderThanDays: 1 });
  expect(await selects(await runtime.next(), 2)).toBe(
    'Error: The user does not permit deleting backups of shop.',
  );

  const lines = (await readFile(join(folder, 'done.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { deployed: 'shop', target: 'Staging' },
    { deletedBackups: 'shop', olderThanDays: 30 },
    { deletedBackups: 'shop', olderThanDays: 30 },
  ]);
});

test('S0-47 a server that is asked to stop ends the calls that wait, and then stops', async () => {
  await invoke('deploy', '1', { service: 'shop' });
  await runtime.next();
  server.kill('SIGTERM');
  expect((await runtime.next()).json.text).toBe('Error: The tool server was closed.');
  expect(await once(server, 'exit')).toEqual([0, null]);
});
