import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { sentMessages } from 'holdpoint/schemas';
import { describe, expect, test } from 'vitest';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';

const golden = join(import.meta.dirname, '..', 'golden');

/** The golden threads of one kind. */
function goldenOf(kind: string): string[] {
  return readdirSync(golden).filter((name) => name.startsWith(`${kind}-v`));
}

describe('golden threads of every released version are read as they were written:', () => {
  test.each(goldenOf('thread'))('%s', async (name) => {
    const text = readFileSync(join(golden, name), 'utf8');
    const agent = memoryWorld([{ text: 'Done.' }]).agent();
    const thread = await agent.restore(text);
    expect(JSON.stringify(thread)).toBe(text.trim());
    expect(thread.calls.map(({ status }) => status)).toEqual(['succeeded', 'denied', 'waiting']);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  test.each(goldenOf('imported'))('%s', async (name) => {
    const text = readFileSync(join(golden, name), 'utf8');
    const world = memoryWorld([{ text: 'Bye.' }]);
    const agent = world.agent();
    const thread = await agent.restore(text);
    expect(JSON.stringify(thread)).toBe(text.trim());
    expect(thread.events[1]).toMatchObject({ type: 'messages-imported', principal: 'ana' });
    expect([thread.messages.length, thread.calls, thread.decisions]).toEqual([7, [], []]);
    const messages = thread.messages.slice(0, 5);
    expect((await agent.thread(thread.id, { messages })).revision).toBe(thread.revision);
    expect((await agent.run('Bye', await agent.thread(thread.id))).text).toBe('Bye.');
    expect(world.ran).toEqual([]);
  });

  test.each(goldenOf('custom-agent'))('%s', async (name) => {
    const text = readFileSync(join(golden, name), 'utf8');
    const agent = createCustomAgent({
      name: 'publisher',
      step: ({ progress, decisions }) => ({
        text: JSON.stringify([progress, decisions.get('publish')?.status]),
      }),
    });
    const thread = await agent.restore(text);
    expect(JSON.stringify(thread)).toBe(text.trim());
    expect(thread.decisions).toMatchObject([
      { status: 'answered', principal: 'eve', channel: 'desk', request: { key: 'tone' } },
    ]);
    const answers = thread.activeApprovalRequests.map((request) => request.approve());
    expect(await agent.run(answers, thread)).toMatchObject({
      status: 'completed',
      text: '[{"stage":"review","tone":["Friendly"]},"approved"]',
    });
  });
});

async function waitingThread() {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent();
  const { thread } = await agent.run('Book', await agent.thread('t'));
  return { world, agent, thread, text: JSON.stringify(thread) };
}

test('restoring what the store has, or less than it has, opens the stored thread', async () => {
  const { agent, thread, text } = await waitingThread();
  await agent.run(
    thread.activeApprovalRequests.map((request) => request.approve()),
    thread,
  );
  const opened = await agent.restore(text);
  expect(opened.status).toBe('idle');
  expect(JSON.stringify(opened)).toBe(JSON.stringify(thread));
});

test.each([
  ['another past', (text: string) => text.replace('"content":"Book"', '"content":"Look"')],
  [
    'more than the store has',
    (text: string) =>
      text.replace(
        /\]\}$/,
        ',{"v":1,"events":[{"type":"message-added","at":1,"message":{"role":"user","content":"x"}}],"hash":""}]}',
      ),
  ],
])('restoring %s is refused, and the store keeps its own', async (_what, edit) => {
  const { agent, text } = await waitingThread();
  const edited = rechainedJson(edit(text));
  expect(edited).not.toBe(text);
  expect(await errorCode(agent.restore(edited))).toBe('thread-diverged');
  expect(JSON.stringify(await agent.thread('t'))).toBe(text);
});

test('a thread of a newer version is refused, from JSON and from a store', async () => {
  const { world, text } = await waitingThread();
  const agent = world.agent({ store: undefined });
  expect(await errorCode(agent.restore(text.replace('"version":1', '"version":2')))).toBe(
    'unsupported-version',
  );
});

test.each([
  ['cut off', (text: string) => text.slice(0, -7), 'invalid-input'],
  ['no thread', () => '{"hello":1}', 'invalid-input'],
  ['empty', () => '', 'invalid-input'],
  [
    'an event of no type',
    (text: string) => text.replace('"run-ended"', '"run-endde"'),
    'log-tampered',
  ],
  [
    'an event missing',
    (text: string) =>
      text.replace(/\{"type":"step-finished".*?\},(?=\{"type":"request-opened")/, ''),
    'log-tampered',
  ],
  [
    'a call that starts twice',
    (text: string) =>
      text.replace(
        /\{"type":"request-opened".*(?=\],"hash")/s,
        `${'{"type":"call-started","at":1,"step":0,"index":0},'.repeat(2)}{"type":"run-ended","at":1}`,
      ),
    'log-tampered',
  ],
  [
    'two calls of a step with the same id',
    (text: string) => text.replace(/\{"type":"tool-call"[^}]*\}\}/, '$&,$&'),
    'log-tampered',
  ],
  [
    'a first event missing',
    (text: string) => text.replace(/\{"type":"thread-created".*?\},/, ''),
    'log-tampered',
  ],
])('JSON that is damaged (%s) is refused, and nothing is written', async (_what, damage, code) => {
  const { world, text } = await waitingThread();
  expect(damage(text)).not.toBe(text);
  const agent = world.agent({ store: undefined });
  expect(await errorCode(agent.restore(damage(text)))).toBe(code);
  expect(await errorCode(agent.restore(rechainedJson(damage(text))))).toBe(code);
  expect((await agent.thread('t')).revision).toBe(0);
});

test('JSON cut at every byte is refused with a code, never half read', async () => {
  const { world, text } = await waitingThread();
  const agent = world.agent({ store: undefined });
  for (let length = 0; length < text.length; length += 7) {
    expect(await errorCode(agent.restore(text.slice(0, length)))).toBe('invalid-input');
  }
});

test('a golden thread with a prepared step says what the model was sent', async () => {
  const text = readFileSync(join(golden, 'thread-v1-prepared.json'), 'utf8');
  const thread = await memoryWorld([]).agent().restore(text);
  const summary = { role: 'system', content: 'The user greeted.' };
  expect(sentMessages(thread, 0)).toEqual(thread.messages.slice(0, 1));
  expect(sentMessages(thread, 1)).toEqual([summary, ...thread.messages.slice(2, 3)]);
  expect(sentMessages(thread, 2)).toEqual([summary, ...thread.messages.slice(2, 5)]);
});
