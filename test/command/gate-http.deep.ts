import { request as requestHttp } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { serveLocally } from '../../src/apps/command/local-server.ts';
import { freePort } from '../support/free-port.ts';
import { runCommand } from '../support/run-holdpoint.ts';
import { GateFolder } from './gate-driver.ts';

const secret = 'the-secret-of-the-proxy-0123456789';
const configSchema = z.object({
  mcpServers: z.record(
    z.string(),
    z.object({ type: z.literal('http'), url: z.url(), headers: z.record(z.string(), z.string()) }),
  ),
});

/** A gate that serves HTTP until the test has finished, and how its clients are configured. */
async function serveGate(...more: string[]) {
  const folder = new GateFolder();
  const ending = Promise.withResolvers<void>();
  const port = await freePort();
  const env = { ...folder.env, HOLDPOINT_PROXY_SECRET: secret };
  const args = ['gate', '--http', String(port), '--port', String(await freePort()), '--no-open'];
  const behind = ['--', ...folder.bank];
  let error = '';
  const ended = runCommand([...args, ...more, ...behind], {
    env,
    untilEnded: async () => ending.promise,
    warn: async (text) => void (error += text),
  });
  onTestFinished(async () => {
    ending.resolve();
    expect(await ended).toMatchObject({ status: 0, output: '' });
    folder[Symbol.dispose]();
  });
  await expect.poll(() => error, { timeout: 10_000 }).toContain(`http://127.0.0.1:${port}/mcp`);
  const printed = await runCommand([...args, '--print-config', 'claude-code', ...behind], { env });
  const { mcpServers } = configSchema.parse(JSON.parse(printed.output));
  const [entry] = Object.values(mcpServers);
  if (entry === undefined) throw new Error('Nothing is configured.');
  return { folder, entry, port, url: new URL(entry.url), error: () => error };
}

type Headers = Record<string, string>;

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'driver', version: '1' },
  },
});

/** Sends a request as any program can, and returns the status. */
async function send(port: number, headers: Record<string, string>, path = '/mcp') {
  const all = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const sent = requestHttp({ host: '127.0.0.1', port, path, method: 'POST', headers: all });
  /* With a text, Node would send the headers as UTF-8. */
  sent.end(Buffer.from(initialize));
  return new Promise<number | undefined>((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      response.destroy();
      resolve(response.statusCode);
    });
  });
}

test('the configuration of a client names the store that a variable names here', async () => {
  using folder = new GateFolder();
  const args = ['gate', '--print-config', 'cursor', '--', 'bank'];
  const named = await runCommand(args, { env: { ...folder.env, HOLDPOINT_STORE: folder.store } });
  expect(named.output).toContain(`"--store",\n        "${folder.store}",`);
  const standard = await runCommand(args, { env: folder.env });
  expect(standard.output).not.toContain('--store');
});

test('a client knows that its stream is open before anything is in it', async () => {
  const server = await serveLocally(0, () => async () => new Response(new ReadableStream()));
  onTestFinished(async () => server.close());
  const { status } = await fetch(`http://${server.host}/`, { signal: AbortSignal.timeout(2_000) });
  expect(status).toBe(200);
});

test('clients of both eras of the protocol share a gate over HTTP, with the token of the configuration', async () => {
  const { folder, entry, url } = await serveGate();
  const requestInit = { headers: entry.headers };
  const client = new Client({ name: 'new', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const old = new OldClient({ name: 'old', version: '1' });
  await old.connect(new OldTransport(url, { requestInit }));
  const calls = [client, old].map(async (each) =>
    each.callTool({ name: 'pay', arguments: { euros: 5 } }),
  );
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(2);
  await folder.answer('--approve');
  await folder.answer('--approve');
  const paid = { content: [{ type: 'text', text: 'Paid.' }] };
  expect(await Promise.all(calls)).toEqual([
    expect.objectContaining(paid),
    expect.objectContaining(paid),
  ]);
  expect(folder.countPayments()).toBe(2);
  await Promise.all([client.close(), old.close()]);
});

test('the standard error says why a call failed in the gate', async () => {
  const { folder, entry, url, error } = await serveGate();
  const client = new Client({ name: 'new', version: '1' });
  const requestInit = { headers: entry.headers };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  const database = new DatabaseSync(folder.store);
  database.exec('ALTER TABLE holdpoint_requests RENAME TO lost');
  const result = await client.callTool({ name: 'pay', arguments: { euros: 5 } });
  expect(result.isError).toBe(true);
  expect(error()).toContain('A call of "pay" failed in the gate. no such table: ');
  database.exec('ALTER TABLE lost RENAME TO holdpoint_requests');
  database.close();
  await client.close();
});

test.each<
  [string, (authorization: string, port: number) => Record<string, string>, number, string?]
>([
  ['without the token', () => ({}), 401],
  ['with another token', () => ({ authorization: `Bearer ${'x'.repeat(43)}` }), 401],
  [
    'with a token of another scheme',
    (given) => ({ authorization: given.replace('Bearer', 'Basic') }),
    401,
  ],
  [
    'under another name',
    (authorization, port) => ({ authorization, host: `evil.example:${port}` }),
    403,
  ],
  [
    'of a page of another site',
    (authorization) => ({ authorization, origin: 'https://evil.example' }),
    403,
  ],
  ['for another path', (authorization) => ({ authorization }), 404, '/'],
  ['with the token', (authorization) => ({ authorization }), 200],
])('a request %s is answered with its status', async (_what, make, status, path) => {
  const { port, entry } = await serveGate();
  const { Authorization: authorization = '' } = entry.headers;
  expect(await send(port, make(authorization, port), path)).toBe(status);
});

test.each<[string, Record<string, string>, number]>([
  ['with the secret and a name', { authorization: `Bearer ${secret}`, 'x-user': 'ada' }, 200],
  ['without the secret', { 'x-user': 'ada' }, 401],
  ['without a name', { authorization: `Bearer ${secret}` }, 401],
  ['with two names', { authorization: `Bearer ${secret}`, 'x-user': 'ada, boss' }, 401],
  [
    'with a name that is no UTF-8',
    { authorization: `Bearer ${secret}`, 'x-user': 'zo\u00eb' },
    401,
  ],
])('behind a proxy, a request %s is answered with its status', async (_what, headers, status) => {
  const { port } = await serveGate('--principal-header', 'x-user');
  expect(await send(port, headers)).toBe(status);
});

test.each([
  ['is short', 'x'.repeat(21)],
  ['has a space', 'correct horse battery staple'],
  ['is not ASCII', 'ü'.repeat(22)],
])('a secret of the proxy that %s is refused before anything is served', async (_what, bad) => {
  using folder = new GateFolder();
  const args = ['gate', '--http', '0', '--port', '0', '--principal-header', 'x-user', '--', 'bank'];
  const env = { ...folder.env, HOLDPOINT_PROXY_SECRET: bad };
  const { status, error } = await runCommand(args, { env });
  expect(status).toBe(2);
  expect(error).toContain('at least 22 characters of ASCII and no spaces');
});

test('behind a proxy, the token of the configuration opens nothing, and the proxy says who asks', async () => {
  const { folder, entry, url, port } = await serveGate('--principal-header', 'x-user');
  const { Authorization: authorization = '' } = entry.headers;
  expect(await send(port, { authorization, 'x-user': 'boss' })).toBe(401);
  const client = new Client({ name: 'new', version: '1' });
  const name = Buffer.from('Zoë').toString('latin1');
  const headers = { authorization: `Bearer ${secret}`, 'x-user': name };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const call = client.callTool({ name: 'pay', arguments: {} });
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  const [row] = await folder.list();
  const { output } = await folder.run('show', row?.requestId ?? '');
  expect(output).toContain('Asked for by: Zoë');
  await folder.answer('--reject');
  await call;
  await client.close();
});

test.each([
  ['who has its token', [], (given: Headers): Headers => given],
  [
    'for whom a proxy has signed',
    ['--principal-header', 'x-user'],
    (): Headers => ({ authorization: `Bearer ${secret}`, 'x-user': 'eve' }),
  ],
])(
  'a client over HTTP %s gets no link with which it could answer',
  async (_who, more, headersOf) => {
    const { folder, entry, url } = await serveGate(...more);
    const shown: string[] = [];
    const client = new Client(
      { name: 'new', version: '1' },
      { capabilities: { elicitation: { url: {} } } },
    );
    client.setRequestHandler('elicitation/create', ({ params }) => {
      if (params.mode === 'url') shown.push(params.url);
      return { action: 'cancel' };
    });
    const requestInit = { headers: headersOf(entry.headers) };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    const call = client.callTool({ name: 'pay', arguments: { euros: 5 } });
    await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
    await folder.answer('--approve');
    await call;
    expect(shown).toEqual([]);
    await client.close();
  },
);
