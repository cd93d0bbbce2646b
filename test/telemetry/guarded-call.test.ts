import { generateText, stepCountIs, tool } from 'ai';
import { SpanStatusCode } from '@opentelemetry/api';
import { createAgent, memoryStore } from 'holdpoint';
import { guardTools } from 'holdpoint/middleware';
import { expect, test } from 'vitest';
import { FileServer } from '../policy/mcp-server.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput, look, memoryWorld } from '../support/travel-world.ts';
import { listen } from './listen.ts';
import { spanOf, traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';

tracingTests();

const script = [{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }];

test('a guarded call is one span, of the conversation that it is in, and names the log where it stands', async () => {
  const { tracer, spans } = traced();
  const find = tool({
    description: 'look a flight',
    inputSchema: cityInput,
    execute: async ({ city }) => {
      tracer.startSpan('airline').end();
      return city;
    },
  });
  const tools = guardTools({ look: find }, { store: memoryStore(), threadId: 'trip-42' });
  const { model } = scriptedModel(script);
  await generateText({ model, tools, prompt: 'Look', stopWhen: stepCountIs(2) });
  expect(traces(spans())).toEqual([['execute_tool look', '  airline']]);
  expect(spanOf(spans(), 'execute_tool look').attributes).toMatchObject({
    'gen_ai.conversation.id': 'trip-42',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.description': 'look a flight',
    'holdpoint.thread.id': expect.stringMatching(/^call-/),
  });
});

test('an indeterminate guarded call belongs to its conversation, too', async () => {
  using heard = listen();
  const { spans } = traced();
  const clock = { now: 1_000 };
  const store = memoryStore();
  const begun = Promise.withResolvers<void>();
  const abort = new AbortController();
  const hanging = tool({
    inputSchema: cityInput,
    execute: async () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const guarded = guardTools(
    { look: hanging },
    { store, threadId: 'trip-42', abortGraceMs: 0, now: () => clock.now },
  );
  const options = { toolCallId: 'c1', messages: [], context: {}, abortSignal: abort.signal };
  const running = Promise.resolve(guarded.look.execute?.({ city: 'Rome' }, options));
  running.catch(() => {});
  await begun.promise;
  abort.abort();
  await expect(running).rejects.toThrow();
  clock.now += 3_600_000;
  const again = guarded.look.execute?.({ city: 'Rome' }, { ...options, abortSignal: undefined });
  await expect(again).rejects.toThrow('its outcome is unknown, so it is not run again');
  expect(heard.moments).toContain('start call-lost');
  expect(spanOf(spans(), 'indeterminate_call look').attributes).toMatchObject({
    'gen_ai.conversation.id': 'trip-42',
  });
});

test('an agent that a guarded tool runs is traced with its own conversation', async () => {
  const { spans } = traced();
  const inner = memoryWorld([{ text: 'Rome is fine.' }]).agent({ name: 'inner' });
  const ask = tool({
    inputSchema: cityInput,
    execute: async () => (await inner.run('Rome?', await inner.thread('inner-1'))).text,
  });
  const tools = guardTools({ look: ask }, { store: memoryStore(), threadId: 'trip-42' });
  const { model } = scriptedModel(script);
  await generateText({ model, tools, prompt: 'Look', stopWhen: stepCountIs(2) });
  expect(traces(spans())).toEqual([
    ['execute_tool look', '  invoke_agent inner', '    chat scripted'],
  ]);
  expect(spanOf(spans(), 'invoke_agent inner').attributes).toMatchObject({
    'gen_ai.conversation.id': 'inner-1',
  });
});

test('a call that an MCP server refused is a span that failed, whether an agent or the AI SDK runs it', async () => {
  const { spans } = traced();
  const refused = [
    { calls: [{ id: 'c1', name: 'remove', input: { path: 'locked.txt' } }] },
    { text: 'It is locked.' },
  ];
  const tools = await new FileServer({ remove: {} }).tools({ clientName: 'files' });
  const agent = createAgent({ model: scriptedModel(refused).model, tools });
  await agent.run('Delete it', await agent.thread('t'));
  const guarded = guardTools(tools, { store: memoryStore(), threadId: 'trip-42' });
  const { model } = scriptedModel(refused);
  await generateText({ model, tools: guarded, prompt: 'Delete it', stopWhen: stepCountIs(2) });
  const executed = spans().filter(({ name }) => name === 'execute_tool remove');
  expect(executed.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
    [SpanStatusCode.ERROR, 'tool_error'],
    [SpanStatusCode.ERROR, 'tool_error'],
  ]);
});
