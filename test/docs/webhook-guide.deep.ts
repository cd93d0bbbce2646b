import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { webhookReceiver } from '../support/webhook-receiver.ts';

/* The program of docs/guides/webhooks.md, as processes of its own. */

const program = join(import.meta.dirname, '..', 'support', 'send-webhooks-process.ts');
const secret = `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`;

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/* A post that fails is repeated after 5 s. */
const patience = { timeout: 20_000 };

/** Starts the program in a folder. */
function start(folder: string, url: string): ChildProcess {
  const sender = spawn(process.execPath, ['--conditions=holdpoint-source', program], {
    cwd: folder,
    env: { ...process.env, WEBHOOK_URL: url, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  cleanUps.push(async () => kill(sender));
  return sender;
}

async function kill(sender: ChildProcess): Promise<void> {
  if (sender.exitCode !== null || sender.signalCode !== null) return;
  const ended = once(sender, 'exit');
  sender.kill('SIGKILL');
  await ended;
}

/** Starts the receiver of the page; `onAccepted` runs before it responds. */
async function startReceiver(onAccepted: () => Promise<void>) {
  const deliveries: string[] = [];
  const accepted: string[] = [];
  const receive = webhookReceiver(secret, async (message) => {
    accepted.push(messageSchema.parse(message).data.requestId);
    await onAccepted();
  });
  const server = createServer((request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    deliveries.push(String(request.headers['webhook-id']));
    text(request)
      .then(async (body) => receive(body, Object.fromEntries(headers)))
      .then(
        () => response.writeHead(204).end(),
        () => response.writeHead(400).end(),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUps.push(
    () => server.close(),
    () => server.closeAllConnections(),
  );
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}/`, deliveries, accepted };
}

const messageSchema = z.object({
  type: z.literal('request.opened'),
  data: z.object({ requestId: z.string(), toolName: z.literal('pay') }),
});

/** Opens a request in a thread of its own; resolves with its id. */
async function openRequest(folder: string, threadId: string): Promise<string> {
  using store = sqliteStore(join(folder, 'threads.sqlite'));
  const { model } = scriptedModel([{ calls: [{ id: 'c', name: 'pay', input: { euros: 5 } }] }]);
  const pay = tool({ inputSchema: z.object({ euros: z.number() }), execute: async () => 'paid' });
  const agent = createAgent({
    model,
    tools: { pay },
    toolApproval: { pay: 'user-approval' },
    store,
  });
  const { approvalRequests } = await agent.run('Pay.', await agent.thread(threadId));
  return approvalRequests[0]?.requestId ?? '';
}

test('a receiver accepts each request once, though the program is killed after a post and started again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-webhooks-'));
  cleanUps.push(async () => rm(folder, { recursive: true }));
  const opened = [await openRequest(folder, 'first'), await openRequest(folder, 'second')];
  let killed: ChildProcess | undefined;
  const { url, deliveries, accepted } = await startReceiver(async () => {
    /* Between the post and the position. */
    if (killed?.exitCode === null && killed.signalCode === null) await kill(killed);
  });
  killed = start(folder, url);
  await once(killed, 'exit');
  expect(accepted).toEqual(opened.slice(0, 1));

  /* It goes on where it was, and is told of what opens from now on. */
  start(folder, url);
  await vi.waitFor(() => expect(accepted).toEqual(opened), patience);
  for (const threadId of ['third', 'fourth', 'fifth'])
    opened.push(await openRequest(folder, threadId));
  await vi.waitFor(() => expect(accepted).toEqual(opened), patience);

  /* The one whose position was not kept has come again, under the id by which it was known. */
  expect(deliveries).toEqual([opened[0], ...opened]);
});
