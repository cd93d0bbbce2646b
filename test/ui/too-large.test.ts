import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as send,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Readable } from 'node:stream';
import { memoryStore } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';
import { origin } from './chat-page.ts';

const store = memoryStore();
const travelAgent = travelWorld(scriptedModel([]), () => store).agent();
const handler = createUiHandler({ agent: travelAgent, authorize: () => ({ principal: 'ann' }) });

/** A body of a length, and how much of it was read. */
function body(length: number) {
  const read = { bytes: 0 };
  const stream = new ReadableStream({
    pull(controller) {
      const part = Math.min(65_536, length - read.bytes);
      if (part === 0) return controller.close();
      read.bytes += part;
      controller.enqueue(new Uint8Array(part).fill(32));
    },
  });
  return { stream, read };
}

function posted(stream: NonNullable<RequestInit['body']>, length: number): Request {
  const headers = { 'content-type': 'application/json', 'content-length': String(length) };
  const init = { method: 'POST', headers, body: stream, duplex: 'half' } as const;
  return new Request(`${origin}/chat`, init);
}

test('S13-10: a message that is too large is refused after the whole of it came, so that no proxy reports a broken connection', async () => {
  const { stream, read } = body(3_000_000);
  expect((await handler(posted(stream, 3_000_000))).status).toBe(413);
  expect(read.bytes).toBe(3_000_000);
});

test('a message that is announced as more than 64 MiB is refused unread', async () => {
  const { stream, read } = body(100_000_000);
  expect((await handler(posted(stream, 100_000_000))).status).toBe(413);
  expect(read.bytes).toBeLessThan(1_000_000);
});

test('a body that is longer than it says is not read to its end', async () => {
  const { stream, read } = body(100_000_000);
  expect((await handler(posted(stream, 2_000_000))).status).toBe(413);
  expect(read.bytes).toBeLessThan(3_000_000);
});

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const request = posted(Readable.toWeb(incoming), Number(incoming.headers['content-length']));
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.text());
}

/** A server as README has it, on a port of its own. */
async function served(): Promise<number> {
  const server = createServer((...exchange) => void answer(...exchange)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('There is no port.');
  return address.port;
}

/** The status that a POST gets. */
async function statusOf(options: RequestOptions, text: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = send(options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    });
    asked.on('error', reject).end(text);
  });
}

test("S13-10: over one connection, as a proxy keeps it, README's server refuses large messages one after the other", async () => {
  const port = await served();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const text = ' '.repeat(3_000_000);
  const headers = { 'content-type': 'application/json', 'content-length': text.length };
  for (let time = 0; time < 3; time += 1) {
    expect(await statusOf({ agent, port, method: 'POST', headers }, text)).toBe(413);
  }
});
