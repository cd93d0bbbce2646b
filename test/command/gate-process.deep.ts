import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { GateClient, GateFolder } from './gate-driver.ts';

const runAll = [{ tools: ['*'], approval: 'approved' }];

/** The options of a gate whose page is on a port of its own. */
const onPort = async (): Promise<string[]> => ['--port', String(await freePort())];

test('without a file each call asks; an approved one runs once, and its client gets the result', async () => {
  using folder = new GateFolder();
  await using gate = await GateClient.start(folder, ...(await onPort()), '--', ...folder.bank);
  const { tools } = await gate.client.listTools();
  expect(tools.map(({ name }) => name)).toContain('pay');
  const paying = gate.call('pay', { euros: 5 });
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  expect(folder.countPayments()).toBe(0);
  await folder.answer('--approve');
  expect(await paying).toBe('Paid.');
  expect(folder.countPayments()).toBe(1);
});

test('the server gets the variables that are named, and no other of the gate', async () => {
  using folder = new GateFolder();
  Object.assign(folder.env, { BANK_TOKEN: 'x', OTHER_TOKEN: 'y' });
  const args = [...(await onPort()), '--observe', '--inherit-env', 'BANK_TOKEN'];
  await using gate = await GateClient.start(folder, ...args, '--', ...folder.bank);
  const names = await gate.call('environment');
  expect(names).toContain('"BANK_TOKEN"');
  expect(names).not.toContain('OTHER_TOKEN');
});

test('what is rejected is not run, and the reason reaches the client', async () => {
  using folder = new GateFolder();
  await using gate = await GateClient.start(folder, ...(await onPort()), '--', ...folder.bank);
  const paying = gate.call('pay', { euros: 5 });
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  await folder.answer('--reject', '--reason', 'Too much.');
  expect(await paying).toContain('Too much.');
  expect(folder.countPayments()).toBe(0);
});

test('only its user can read the store and the key, and the standard error has no link that opens the page', async () => {
  using folder = new GateFolder();
  const port = await onPort();
  const args = [...port, '--', ...folder.bank];
  await using gate = await GateClient.start(folder, ...args);
  const modes = ['', '/gate.sqlite', '/gate.sqlite.key'].map(
    (name) => statSync(`${folder.path}/.holdpoint${name}`).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o600, 0o600]);
  await expect.poll(() => gate.error, { timeout: 10_000 }).toContain('The page: http://127.0.0.1');
  expect(gate.error).not.toContain('token');
  const { output } = await folder.run('gate', '--page', ...port);
  expect(output).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/inbox-[\w-]{22}\?token=[\w-]{22}\n$/);
  const opened = await fetch(output.trim(), { redirect: 'manual' });
  expect(opened.status).toBe(200);
  expect(gate.error).not.toContain(new URL(output).pathname);
});

test('a rule of code that writes to the standard output does not disturb the protocol', async () => {
  using folder = new GateFolder();
  const [command, ...words] = folder.bank;
  const file = join(folder.path, 'gate.mjs');
  writeFileSync(
    file,
    `console.log('loaded');
     export default {
       name: 'payments',
       upstreams: { bank: ${JSON.stringify({ command, args: words })} },
       toolApproval: () => { console.log('asked'); process.stdout.write('{}\\n'); return 'approved'; },
     };`,
  );
  await using gate = await GateClient.start(folder, ...(await onPort()), '--config', file);
  const problems: Error[] = [];
  Object.assign(gate.client, { onerror: (error: Error) => problems.push(error) });
  expect(await gate.call('pay')).toBe('Paid.');
  expect(problems).toEqual([]);
  expect(gate.error).toContain('loaded\n');
  expect(gate.error).toContain('asked\n');
});

test('many messages at once are answered, and nothing is said of them', async () => {
  using folder = new GateFolder();
  await using gate = await GateClient.start(folder, ...(await onPort()), '--', ...folder.bank);
  await Promise.all(Array.from({ length: 300 }, async () => gate.client.listTools()));
  await expect.poll(() => gate.error).toContain('The page: ');
  expect(gate.error.trimEnd().split('\n')).toHaveLength(1);
});

test.each<[string, (gate: ChildProcess) => unknown]>([
  [
    'its client has gone',
    ({ stdin, stdout }) => {
      stdin?.end();
      stdout?.destroy();
    },
  ],
  ['it is told to end', (gate) => gate.kill('SIGTERM')],
])('when %s, it ends after a call that runs was recorded', async (_what, end) => {
  using folder = new GateFolder();
  const config = folder.writeConfig(runAll);
  const gate = spawn(
    process.execPath,
    folder.makeArgs('--no-open', ...(await onPort()), '--config', config),
    { env: folder.env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(gate, 'exit');
  const send = (message: object): unknown =>
    gate.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'driver', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  send({ id: 1, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'pay', arguments: {} } });
  await expect.poll(() => folder.countPayments(), { timeout: 30_000 }).toBe(1);
  end(gate);
  expect(await ended).toEqual([0, null]);
  expect(await folder.list('open')).toEqual([]);
  const { output } = await folder.run('export');
  expect(output).toContain('Paid.');
});

test('with --observe every call runs, and what would have been asked or denied is listed', async () => {
  using folder = new GateFolder();
  const config = folder.writeConfig([
    { tools: ['environment'], approval: 'approved' },
    { tools: ['hang'], approval: 'denied', reason: 'It hangs.' },
    { tools: ['pay'], approval: 'user-approval', reason: 'It is money.' },
  ]);
  const args = ['--observe', ...(await onPort()), '--config', config];
  await using gate = await GateClient.start(folder, ...args);
  expect(await gate.call('environment')).toContain('PATH');
  expect(await gate.call('pay', { euros: 5 })).toBe('Paid.');
  void gate.call('hang').catch(() => {});
  await expect.poll(async () => folder.list('cancelled'), { timeout: 10_000 }).toHaveLength(2);
  const observed = await folder.list('cancelled');
  expect(observed.map(({ request }) => request?.text)).toEqual([
    'Would have asked: pay {"euros":5}',
    'Would have been denied: hang {}',
  ]);
  /* A call is recorded before it runs. */
  await expect.poll(() => folder.countPayments(), { timeout: 10_000 }).toBe(2);
  expect(await folder.list()).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'with --open the browser gets a link when the first call waits, and no other for the next one',
  async () => {
    using folder = new GateFolder();
    const opened = join(folder.path, 'opened');
    mkdirSync(folder.programs);
    const script = `#!/bin/sh\necho "$@" >> '${opened}'\n`;
    writeFileSync(join(folder.programs, 'xdg-open'), script, { mode: 0o755 });
    const args = ['--open', ...(await onPort()), '--', ...folder.bank];
    await using gate = await GateClient.start(folder, ...args);
    await gate.client.listTools();
    expect(existsSync(opened)).toBe(false);
    const calls = [gate.call('pay', { euros: 5 }), gate.call('pay', { euros: 6 })];
    await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(2);
    await expect.poll(() => existsSync(opened), { timeout: 10_000 }).toBe(true);
    const [url = '', ...others] = readFileSync(opened, 'utf8').trimEnd().split('\n');
    expect(others).toEqual([]);
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(200);
    await folder.answer('--reject');
    await folder.answer('--reject');
    await Promise.all(calls);
  },
);

test.runIf(process.platform === 'linux')(
  'over HTTP no browser gets a link unless --open says so, as other users see the arguments of programs',
  async () => {
    using folder = new GateFolder();
    const opened = join(folder.path, 'opened');
    mkdirSync(folder.programs);
    writeFileSync(join(folder.programs, 'xdg-open'), `#!/bin/sh\necho > '${opened}'\n`, {
      mode: 0o755,
    });
    const port = String(await freePort());
    const args = [...(await onPort()), '--http', port, '--config', folder.writeConfig([])];
    const env = { ...folder.env, DISPLAY: ':0' };
    const gate = spawn(process.execPath, folder.makeArgs(...args), { env, stdio: 'ignore' });
    const ended = once(gate, 'exit');
    const printed = await folder.run('gate', '--print-config', 'cursor', ...args);
    const [, authorization = ''] = /"Authorization": "(.*)"/.exec(printed.output) ?? [];
    const client = new Client({ name: 'driver', version: '1' });
    const connect = async () => {
      const requestInit = { headers: { authorization } };
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      return true;
    };
    await expect.poll(async () => connect().catch(() => false), { timeout: 10_000 }).toBe(true);
    const called = client.callTool({ name: 'pay', arguments: {} });
    await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
    await folder.answer('--approve');
    expect(await called).toMatchObject({ content: [{ text: 'Paid.' }] });
    expect(existsSync(opened)).toBe(false);
    await client.close();
    gate.kill('SIGTERM');
    await ended;
  },
);

test('what a client is told of a call that waits opens nothing, and what it shows to its user opens the page', async () => {
  using folder = new GateFolder();
  const [command, ...words] = folder.bank;
  const file = join(folder.path, 'gate.json');
  const servers = { bank: { command, args: words } };
  writeFileSync(file, JSON.stringify({ name: 'payments', servers, holdMs: 200 }));
  await using gate = await GateClient.start(folder, ...(await onPort()), '--config', file);
  const told = await gate.call('pay');
  expect(told).toContain('Nothing has happened yet');
  const [url = ''] = /http:\S+/.exec(told) ?? [];
  expect(url).toMatch(/\/inbox-[\w-]{22}#request=[\w-]{22}$/);
  const led = await fetch(url);
  expect(led.headers.get('set-cookie')).toBeNull();
  const [shown = ''] = gate.shown;
  expect(shown).toMatch(/\/inbox-[\w-]{22}\?token=[\w-]{22}#request=[\w-]{22}$/);
  const { pathname } = new URL(shown);
  expect(told + (await led.text())).not.toContain(pathname);
  expect((await fetch(shown, { redirect: 'manual' })).status).toBe(200);
});

test('the file of a gate says who may answer from a shell', async () => {
  using folder = new GateFolder();
  const [command, ...words] = folder.bank;
  const file = join(folder.path, 'gate.json');
  const rules = [{ tools: ['pay'], approval: 'user-approval', approvers: ['finance'] }];
  const servers = { bank: { command, args: words } };
  const people = { finance: ['boss'] };
  writeFileSync(file, JSON.stringify({ name: 'payments', servers, rules, people }));
  await using gate = await GateClient.start(folder, ...(await onPort()), '--config', file);
  const paying = gate.call('pay', { euros: 5 });
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  await expect(folder.answer('--approve')).rejects.toThrow('--rules');
  await expect(folder.answer('--approve', '--rules', file, '--as', 'eve')).rejects.toThrow(
    'refused',
  );
  await folder.answer('--approve', '--rules', file);
  expect(await paying).toBe('Paid.');
});

test('the same command in two folders is two servers, of which tools are accepted one by one', async () => {
  using folder = new GateFolder();
  using other = new GateFolder();
  const words = ['--', ...folder.bank.slice(0, -1), 'ledger'];
  const args = ['--store', folder.store, ...(await onPort()), ...words];
  await using first = await GateClient.start(folder, ...args);
  await using second = await GateClient.start(other, ...args);
  for (const gate of [first, second]) void gate.call('pay', { euros: 5 }).catch(() => {});
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(2);
  const texts = (await folder.list()).map(({ request }) => request?.text);
  expect(new Set(texts).size).toBe(2);
  for (const text of texts) expect(text).toMatch(/^driver wants to call pay of \S+\.$/);
});
