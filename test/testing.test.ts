import { generateText, tool, wrapLanguageModel } from 'ai';
import { createAgent } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

test('a function makes the steps of several threads, each from its own messages', async () => {
  const played = scriptedModel(async (messages) => {
    const last = messages.at(-1);
    return last?.role === 'tool'
      ? { text: 'Looked.' }
      : { calls: [{ id: 'c1', name: 'look', input: { at: JSON.stringify(last?.content) } }] };
  });
  const look = tool({
    inputSchema: z.object({ at: z.string() }),
    execute: ({ at }) => at.toUpperCase(),
  });
  const agent = createAgent({ model: played.model, tools: { look } });
  const threads = [await agent.thread('one'), await agent.thread('two')] as const;
  const [one, two] = await Promise.all(threads.map(async (each) => agent.run(each.id, each)));
  const streamed = await agent.stream('three', await agent.thread('three')).response;
  expect([one?.text, two?.text, streamed.text]).toEqual(['Looked.', 'Looked.', 'Looked.']);
  expect(JSON.stringify(one?.thread.messages)).toContain('ONE');
  expect(JSON.stringify(two?.thread.messages)).toContain('TWO');
  expect(played.requests).toBe(6);
});

test('a function that returns no step says so', async () => {
  // @ts-expect-error -- a forgotten return
  const { model } = scriptedModel(() => {});
  await expect(generateText({ model, prompt: 'Hi', maxRetries: 0 })).rejects.toThrow(
    'The function of scriptedModel returned no step.',
  );
});

test('a scripted model can be wrapped, and used without an agent, like any model of the AI SDK', async () => {
  const { model, prompts } = scriptedModel([{ text: 'Hello.' }]);
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware: {} }),
    prompt: 'Hi',
  });
  expect(text).toBe('Hello.');
  expect(prompts).toHaveLength(1);
});
