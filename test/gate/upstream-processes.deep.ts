import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { memoryStore } from 'holdpoint';
import { createGate, type GateOptions } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { connect, readTexts } from './gate-world.ts';

function openGate(file: string, options: Partial<GateOptions> = {}, more: object = {}) {
  const ledger = join(mkdtempSync(join(tmpdir(), 'gate-')), 'ledger');
  const problems: string[] = [];
  const gate = createGate({
    upstreams: {
      bank: {
        command: process.execPath,
        args: [join(import.meta.dirname, file), ledger],
        ...more,
      },
    },
    toolApproval: () => 'approved',
    onProblem: ({ problem }) => problems.push(problem),
    ...options,
  });
  const readLedger = (): string[] => readFileSync(ledger, 'utf8').trim().split('\n');
  return { gate, readLedger, problems };
}

test.each([
  ['both eras', 'bank-process.ts', 'Paid.'],
  ['the old era alone', 'old-bank-process.ts', 'Paid by an old bank.'],
])('a server of its own process that speaks %s is called', async (_, file, reply) => {
  const { gate } = openGate(file);
  const client = await connect(gate);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('pay');
  expect(readTexts(await client.callTool({ name: 'pay' }))).toEqual([reply]);
  await gate.close();
});

test('a server that is killed while it pays has paid once: the call is reported as unknown, and is not repeated', async () => {
  const store = memoryStore();
  const { gate, readLedger } = openGate('bank-process.ts', { store });
  const client = await connect(gate);
  const lost = await client.callTool({ name: 'die', arguments: { euros: 5 } });
  expect(lost.isError).toBe(true);
  expect(readTexts(lost)[0]).toContain('It is unknown whether this call');
  expect(readLedger()).toHaveLength(1);
  const unsettled = await store.requests?.list({ state: 'open', kind: 'lost-call' });
  expect(unsettled).toHaveLength(1);
  expect(readTexts(await client.callTool({ name: 'pay' }))).toEqual(['Paid.']);
  expect(readLedger()).toHaveLength(2);
  await gate.close();
});

test('a server gets the variables that it is given, and no other of the gate', async () => {
  const { gate } = openGate(
    'bank-process.ts',
    {},
    { env: { BANK_TOKEN: 'x' }, inheritEnv: ['NODE_ENV'] },
  );
  const client = await connect(gate);
  const [text = ''] = readTexts(await client.callTool({ name: 'environment' }));
  const names: unknown = JSON.parse(text);
  expect(names).toEqual(expect.arrayContaining(['BANK_TOKEN', 'NODE_ENV', 'PATH']));
  expect(names).not.toContain('VITEST');
  expect(process.env['VITEST']).toBeDefined();
  await gate.close();
});

test('what is reported of a server that can not be reached says why', async () => {
  const problems: string[] = [];
  const gate = createGate({
    upstreams: {
      web: { url: `http://127.0.0.1:${await freePort()}/mcp` },
      program: { command: 'no-such-program' },
      folder: { command: process.execPath, cwd: '/no/such/folder' },
    },
    onProblem: ({ problem }) => problems.push(problem),
  });
  await expect
    .poll(() => problems.toSorted())
    .toEqual([
      expect.stringMatching(
        /folder can't be reached: .* ENOENT. Is \/no\/such\/folder a folder\?$/,
      ),
      expect.stringMatching(/program can't be reached: spawn no-such-program ENOENT$/),
      expect.stringMatching(/web can't be reached: .*fetch failed \(ECONNREFUSED\)$/),
    ]);
  await gate.close();
});

/* A server that says what it was asked, as some do. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id } = z.object({ id: z.unknown() }).parse(await json(request));
  const { authorization = '' } = request.headers;
  const token = authorization.replace('Bearer ', '');
  const forms = [
    authorization,
    token,
    encodeURIComponent(token),
    Buffer.from(token).toString('base64'),
    Buffer.from(authorization).toString('base64url'),
  ];
  const message = `No: ${request.url} ${forms.join(' ')} ${JSON.stringify(token)}`;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } }));
}

test('no secret of a server is in what is reported of it', async () => {
  const server = createServer((request, response) => void echo(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `http://127.0.0.1:${port}/mcp?key=very-secret-key`;
  const problems: string[] = [];
  const gate = createGate({
    upstreams: { bank: { url, headers: { authorization: 'Bearer hush"hush/+' } } },
    onProblem: ({ problem }) => problems.push(problem),
  });
  await (await connect(gate)).listTools();
  expect(problems.join('\n')).toContain('No: /mcp');
  expect(problems.join('\n')).not.toMatch(/very-secret-key|hush|aHVza|QmVhcmVy/);
  await gate.close();
  server.close();
});
