import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveFetch } from '../../examples/serve-fetch.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');

test('every example that listens does so with serveFetch', () => {
  const listening = globSync('**/*.{ts,tsx}', { cwd: examples }).filter((file) =>
    /\bcreateServer\(|\.listen\(/.test(readFileSync(join(examples, file), 'utf8')),
  );
  expect(listening).toEqual(['serve-fetch.ts']);
});

test('serveFetch listens on 127.0.0.1 alone, and refuses pages of other sites and other hosts', async () => {
  const handled: string[] = [];
  const server = await serveFetch(async ({ method }) => {
    handled.push(method);
    return new Response('Done.');
  }, 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  expect(address).toMatchObject({ address: '127.0.0.1' });
  for (const host of ['127.0.0.2', '::1']) {
    await expect(once(connect(port, host), 'connect')).rejects.toThrow(/E\w+/);
  }
  const send = async (headers: Record<string, string>): Promise<number | undefined> => {
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers });
    sent.end('{}');
    const [response]: IncomingMessage[] = await once(sent, 'response');
    response?.resume();
    return response?.statusCode;
  };
  const own = `127.0.0.1:${port}`;
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1']) {
    expect(await send({ host: own, origin, 'content-type': 'text/plain' })).toBe(403);
    expect(await send({ host: own, origin, 'content-type': 'application/json' })).toBe(403);
  }
  /* A name of somebody else that leads to this machine. */
  expect(await send({ host: 'evil.example', origin: 'http://evil.example' })).toBe(403);
  expect(handled).toEqual([]);
  expect(await send({ host: own, origin: `http://${own}` })).toBe(200);
  expect(handled).toEqual(['POST']);
  await expect(serveFetch(async () => new Response(), port)).rejects.toThrow('Set PORT');
  server.closeAllConnections();
  server.close();
});
