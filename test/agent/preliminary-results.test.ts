import { tool } from 'ai';
import { type AgentStreamEvent, createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const calls = [{ id: 'c1', name: 'search', input: { query: 'Paris' } }];

function searchingAgent(
  yields: unknown[],
  between: () => Promise<unknown> = async () => undefined,
) {
  const search = tool({
    inputSchema: z.object({ query: z.string() }),
    async *execute() {
      for (const each of yields) {
        yield each;
        await between();
      }
    },
  });
  const { model } = scriptedModel([{ calls }, { text: 'Found.' }]);
  return createAgent({ model, tools: { search }, store: memoryStore() });
}

const isPreliminary = (event: AgentStreamEvent) => event.type === 'tool-result';

test('what a generator yields is in the stream as it comes, and never in the log', async () => {
  const agent = searchingAgent(['a third', 'two thirds', 'all'], () => new Promise(setImmediate));
  const thread = await agent.thread('t');
  const events: AgentStreamEvent[] = [];
  for await (const event of agent.stream('Search', thread)) events.push(event);
  expect(events.filter(isPreliminary)).toEqual(
    ['a third', 'two thirds', 'all'].map((output) => ({
      type: 'tool-result',
      toolCallId: 'c1',
      toolName: 'search',
      input: { query: 'Paris' },
      output,
      preliminary: true,
    })),
  );
  const started = events.findIndex(({ type }) => type === 'call-started');
  const ended = events.findIndex(({ type }) => type === 'call-ended');
  const places = events.flatMap((event, index) => (isPreliminary(event) ? index : []));
  expect(Math.min(...places)).toBeGreaterThan(started);
  expect(Math.max(...places)).toBeLessThan(ended);
  expect(JSON.stringify(thread)).not.toContain('two thirds');
  expect(thread.calls).toMatchObject([{ outcome: { status: 'succeeded', output: 'all' } }]);
});

test('a reader that falls behind gets the latest, and memory does not grow', async () => {
  const many = Array.from({ length: 10_000 }, (_each, index) => index);
  const agent = searchingAgent(many);
  const thread = await agent.thread('t');
  const seen: unknown[] = [];
  for await (const event of agent.stream('Search', thread)) {
    if (event.type === 'call-started') await new Promise((resolve) => setTimeout(resolve, 0));
    if (isPreliminary(event)) seen.push(event.output);
  }
  expect(seen.length).toBeLessThan(100);
  expect(seen.at(-1)).toBe(9_999);
});

test('what JSON has no form for is told as such, and a run without a reader is not held up', async () => {
  const agent = searchingAgent([10n, 'done']);
  const thread = await agent.thread('t');
  expect(await agent.stream('Search', thread).response).toMatchObject({ text: 'Found.' });
  const other = searchingAgent([10n, 'done'], () => new Promise(setImmediate));
  const events: AgentStreamEvent[] = [];
  for await (const event of other.stream('Search', await other.thread('t'))) events.push(event);
  expect(events.filter(isPreliminary)).toMatchObject([
    { output: expect.stringContaining('JSON') },
    { output: 'done' },
  ]);
});
