import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { candidateTools, recordPayments } from './recorded-payments.ts';

const tools = candidateTools;
const payments = [{ input: { to: 'ann', amount: 7 }, answer: 'yes' }] as const;

test('threads are replayed from their handles, JSON text and parsed JSON alike', async () => {
  const thread = await recordPayments('t', payments);
  const text = JSON.stringify(thread);
  async function* arriving() {
    yield thread;
    yield text;
    yield JSON.parse(text);
  }
  const result = await backtest({ tools, threads: arriving() });
  expect(result).toMatchObject({ threads: 3, calls: 3, unreadable: [] });
  expect(result.counts.run.approved).toBe(3);
});

test('threads that cannot be read are listed with the reason, and the others are replayed', async () => {
  const text = JSON.stringify(await recordPayments('t', payments));
  const result = await backtest({
    tools,
    threads: [
      text,
      '{"type":',
      text.replace('ann', 'eve'),
      text.replace('"version":1', '"version":9'),
    ],
  });
  expect(result.threads).toBe(1);
  expect(result.unreadable).toMatchObject([
    { thread: 'thread 2 of the given ones', error: expect.stringContaining('not valid JSON') },
    {
      thread: 'thread 3 of the given ones',
      error: expect.stringContaining('was changed at revision'),
    },
    { thread: 'thread 4 of the given ones', error: expect.stringContaining('has version 9') },
  ]);
  expect(String(result)).toContain('3 threads could not be read:\n  thread 2 of the given ones: ');
});

test('a stored thread without its end is listed, one that was deleted or continued meanwhile is not', async () => {
  const kept = memoryStore();
  for (const id of ['a', 'b', 'c', 'd']) await recordPayments(id, payments, { store: kept });
  const store: ThreadStore = {
    ...kept,
    async read(threadId, after) {
      const entries = await kept.read(threadId, after);
      if (threadId === 'a') return entries.slice(0, -1);
      if (threadId === 'b') return [];
      return threadId === 'c' ? entries.slice(0, 0) : entries;
    },
    async head(threadId) {
      return threadId === 'c' ? undefined : kept.head(threadId);
    },
  };
  const result = await backtest({ tools, store, agent: 'bank' });
  expect(result.threads).toBe(1);
  expect(result.unreadable.map(({ thread }) => thread)).toEqual(['a', 'b']);
  expect(result.unreadable[0]?.error).toContain("at which the store's summary says it ends");
});

test('a thread that grows after it was listed is replayed with what it has', async () => {
  const kept = memoryStore();
  await recordPayments('t', payments, { store: kept });
  const store: ThreadStore = {
    ...kept,
    async read(threadId, after) {
      const { model } = scriptedModel([{ text: 'Yes?' }]);
      const agent = createAgent({ model, name: 'bank', tools, store: kept });
      await agent.run('One more thing.', await agent.thread(threadId));
      return kept.read(threadId, after);
    },
  };
  expect(await backtest({ tools, store, agent: 'bank' })).toMatchObject({
    threads: 1,
    unreadable: [],
  });
});

test.each(['thread-v1', 'thread-v1-prepared', 'imported-v1', 'custom-agent-v1'])(
  'the golden log %s can be replayed',
  async (name) => {
    const text = readFileSync(join(import.meta.dirname, '..', 'golden', `${name}.json`), 'utf8');
    const result = await backtest({ tools: {}, threads: [text] });
    expect(result).toMatchObject({ threads: 1, unreadable: [] });
  },
);

test('an entry with several steps is replayed step by step', async () => {
  const thread = await recordPayments('t', [...payments, ...payments]);
  const events = JSON.stringify(thread.events);
  const body = `{"v":1,"events":${events}`;
  const hash = createHash('sha256').update(`holdpoint/log-entry/v1\0${body}`).digest('base64url');
  const { type, version, threadId, revision } = thread.toJSON();
  const entries = [{ v: 1, events: JSON.parse(events), hash }];
  const seen: [messages: number, calls: number][] = [];
  const result = await backtest({
    tools,
    toolApproval: {
      pay: (_input, { messages, calls }) => {
        seen.push([messages.length, calls.length]);
        return 'user-approval';
      },
    },
    threads: [{ type, version, threadId, revision, entries }],
  });
  expect(result.unreadable).toEqual([]);
  expect(seen).toEqual([
    [1, 0],
    [3, 1],
  ]);
});
