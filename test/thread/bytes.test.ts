import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import type { UserModelMessage } from 'ai';
import { expect, test } from 'vitest';

type Part = Exclude<UserModelMessage['content'], string>[number];

/** Sends a message of one part and opens the thread in another agent; gives the message as that one has it. */
async function sendAndOpen(part: Part) {
  const store = memoryStore();
  const open = () => createAgent({ model: scriptedModel([{ text: 'Seen.' }]).model, store });
  const agent = open();
  await agent.run({ role: 'user', content: [part] }, await agent.thread('t'));
  const { messages } = await open().thread('t');
  return messages[0];
}

/** The shortest time of three, in milliseconds. */
async function fastest(work: () => Promise<unknown>): Promise<number> {
  let shortest = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const started = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - started);
  }
  return shortest;
}

const image = { type: 'file', mediaType: 'image/png' } as const;

test('20 MB of bytes take at most six times as long as text that is as long as their base64', async () => {
  const data = Uint8Array.from({ length: 20_000_000 }, (_, index) => index * 31);
  const text = 'x'.repeat((data.length / 3) * 4);
  const ofText = await fastest(async () => sendAndOpen({ type: 'text', text }));
  const ofBytes = await fastest(async () => sendAndOpen({ ...image, data }));
  expect(ofBytes).toBeLessThan(6 * ofText);
});

test('bytes and URLs in messages come back as they were', async () => {
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  const url = new URL('https://example.com/a.png?x=1#y');
  for (const data of [all, all.subarray(3, 8), new Uint8Array(), url]) {
    const part = { ...image, data };
    expect(await sendAndOpen(part)).toEqual({ role: 'user', content: [part] });
  }
});

test('data that looks like our form of bytes or URLs stays data', async () => {
  const options = { odd: { a: { $bytes: 'AA==' }, b: { $$url: 'x' }, c: { $buffer: 1 } } };
  const part = { type: 'text', text: 'Hi', providerOptions: options } as const;
  expect(await sendAndOpen(part)).toEqual({ role: 'user', content: [part] });
});
