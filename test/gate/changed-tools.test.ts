import { expect, test } from 'vitest';
import { answerOnly, connect, listOpen, makeWorld, payment, readTexts } from './gate-world.ts';

type Gate = ReturnType<typeof makeWorld>['gate'];

/** The agent that asks about the servers of a gate, and what it asks. */
async function readChanges({ agents: [, pins] }: Gate) {
  if (pins === undefined) throw new Error('No agent asks about servers.');
  return { pins, requests: (await pins.requests({ principal: 'boss' })).requests };
}

/** Accepts everything that is asked about the servers of a gate. */
async function acceptChanges(gate: Gate) {
  const { pins, requests } = await readChanges(gate);
  for (const { request, row } of requests) {
    if (request?.type !== 'approval-request') continue;
    await pins.respond(request.approve(), await pins.thread(row.threadId), { principal: 'boss' });
  }
  return requests.length;
}

test('a request whose tool has changed since it was asked is asked again, with what the tool is now', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1));
  await acceptChanges(gate);
  const held = client.callTool(payment);
  await clock.pass(1_000);
  const [asked] = await listOpen(gate);
  await bank.describe('Gives the money away.');
  await expect.poll(async () => acceptChanges(gate)).toBeGreaterThan(0);
  await expect.poll(() => changes, { timeout: 10_000 }).toBeGreaterThan(0);
  const description = async () => (await client.listTools()).tools[0]?.description;
  await expect.poll(description, { timeout: 10_000 }).toBe('Gives the money away.');
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(3_000);
  expect(bank.calls).toEqual([]);
  const [askedAgain] = await listOpen(gate);
  expect(askedAgain?.requestId).not.toBe(asked?.requestId);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(3_000);
  expect(readTexts(await held)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a call of a tool that has changed asks nobody before the change was accepted', async () => {
  const { gate, bank, clock } = makeWorld();
  const client = await connect(gate);
  await bank.describe('Gives the money away.');
  const texts = async () => (await readChanges(gate)).requests.map(({ request }) => request?.text);
  await expect.poll(texts).toContainEqual(expect.stringContaining('changed its tool pay'));
  const result = client.callTool(payment);
  await clock.pass(1_000);
  expect(await listOpen(gate)).toEqual([]);
  expect(readTexts(await result)[0]).toMatch(/^Not called: the definition of "pay" .* has changed/);
  expect(bank.calls).toEqual([]);
});
