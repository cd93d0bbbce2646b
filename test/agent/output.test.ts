import { NoObjectGeneratedError, NoOutputGeneratedError, Output } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { type Agent, createAgent } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';

const trip = Output.object({ schema: z.object({ city: z.string(), nights: z.number() }) });

test('response.output has the type and the value of the output, and the thread has the text', async () => {
  const text = '{"city":"Rome","nights":2}';
  const { model } = scriptedModel([{ text }]);
  const agent = createAgent({ model, output: trip });
  const response = await agent.run('Plan', await agent.thread('t'));
  expect(response.output).toEqual({ city: 'Rome', nights: 2 });
  expect(response.text).toBe(text);
  expectTypeOf(response.output).toEqualTypeOf<{ city: string; nights: number }>();
  expectTypeOf(agent).toExtend<Agent>();
});

test('the model is asked for the format in each step, with tools and without parsing them', async () => {
  const tools = travelTools([]);
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  };
  const model = new MockLanguageModelV4({
    async doGenerate() {
      const isFirst = model.doGenerateCalls.length === 1;
      const call = { toolCallId: 'c1', toolName: 'look', input: '{"city":"Rome"}' };
      return {
        content: isFirst
          ? [{ type: 'tool-call' as const, ...call }]
          : [{ type: 'text' as const, text: '{"elements":["Rome"]}' }],
        finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
  const agent = createAgent({ model, tools, output: Output.array({ element: z.string() }) });
  const response = await agent.run('Plan', await agent.thread('t'));
  expect(response.output).toEqual(['Rome']);
  expect(model.doGenerateCalls.map(({ responseFormat }) => responseFormat?.type)).toEqual([
    'json',
    'json',
  ]);
});

test('a reply that does not match is recorded, and its output throws when it is read', async () => {
  const { model } = scriptedModel([{ text: 'Rome, for two nights.' }]);
  const agent = createAgent({ model, output: trip });
  const thread = await agent.thread('t');
  const response = await agent.run('Plan', thread);
  expect(response).toMatchObject({ status: 'completed', text: 'Rome, for two nights.' });
  expect(() => response.output).toThrow(NoObjectGeneratedError);
  expect({ ...response }).toMatchObject({ status: 'completed' });
  expect(thread.failure).toBeUndefined();
});

test('a run that waits has no output yet, and the one that ends has it', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Rome')] }, { text: '"booked"' }]);
  const agent = world.agent({ output: Output.json() });
  const waiting = await agent.run('Book', await agent.thread('t'));
  expect(() => waiting.output).toThrow(NoOutputGeneratedError);
  const answers = waiting.approvalRequests.map((request) => request.approve());
  expect((await agent.run(answers, waiting.thread)).output).toBe('booked');
});

test('a repeated message and a restored thread have the output of the recorded text', async () => {
  const world = memoryWorld([{ text: '"yes"' }, { text: '"no"' }]);
  const options = { output: Output.choice({ options: ['yes', 'no'] }) };
  const agent = world.agent(options);
  const thread = await agent.thread('t');
  await agent.run('Will it?', thread, { messageId: 'm1' });
  await agent.run('Will it now?', thread, { messageId: 'm2' });
  const again = { messageId: 'm1' };
  const repeated = await agent.run('Will it?', thread, again).catch((error: unknown) => error);
  expect(repeated).toMatchObject({ text: '"yes"' });
  const elsewhere = memoryWorld([]).agent({ output: Output.json() });
  const restored = await elsewhere.restore(JSON.stringify(thread));
  expect((await elsewhere.run([], restored)).output).toBe('no');
});

test('a stream ends with the output', async () => {
  const { model } = scriptedModel([{ text: '{"city":"Rome","nights":2}' }]);
  const agent = createAgent({ model, output: trip });
  const stream = agent.stream('Plan', await agent.thread('t'));
  const ends: unknown[] = [];
  for await (const event of stream) if (event.type === 'finish') ends.push(event.response.output);
  expect(ends).toEqual([{ city: 'Rome', nights: 2 }]);
  expect((await stream.response).output.city).toBe('Rome');
});
