import { type Tracer, trace } from '@opentelemetry/api';
import { tool } from 'ai';
import type { AgentOptions } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { modes } from '../support/streaming-agent.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';
import { spanOf, traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';
import { pickCases } from '../support/sampling.ts';

tracingTests();

const calls = [look('c1', 'Rome'), book('c2', 'Paris')];
const script = [{ text: 'Let me see.', calls }, { text: 'Done.' }];

/** Tools that trace their own work, after a pause. */
function tracedTools(tracer: Tracer) {
  const tracedTool = (name: string) =>
    tool({
      description: `${name} a flight`,
      inputSchema: cityInput,
      execute: async ({ city }) => {
        await new Promise(setImmediate);
        tracer.startSpan('airline').end();
        return city;
      },
    });
  return { ...travelTools([]), look: tracedTool('look'), book: tracedTool('book') };
}

describe.each(pickCases(modes))('in the trace of agent.$mode an operator sees', ({ speak }) => {
  /** Asks and answers; the second run of the agent ends it. */
  async function play(options: Partial<AgentOptions> & { tracer: Tracer }) {
    const { tracer, ...more } = options;
    const tools = tracedTools(tracer);
    const agent = speak(memoryWorld(script).agent({ name: 'travel', tools, ...more }));
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('trip-42'));
    const answers = approvalRequests.map((request) => request.approve());
    return agent.run(answers, thread, { channel: 'web' });
  }

  test('one run as one trace: the agent, and under it its model steps, requests and tools', async () => {
    const { tracer, spans } = traced();
    await play({ tracer });
    expect(traces(spans())).toEqual([
      [
        'invoke_agent travel',
        '  chat scripted',
        '  approval_request book',
        '    approval_wait book',
        '  execute_tool look',
        '    airline',
      ],
      [
        'invoke_agent travel',
        '  approval_decision book',
        '  execute_tool book',
        '    airline',
        '  chat scripted',
      ],
    ]);
    expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(2);
  });

  test('which agent ran in which conversation, with which model, what it came to and what it used', async () => {
    const { tracer, spans } = traced();
    const { thread } = await play({ tracer });
    const runIds = thread.events.flatMap((event) =>
      event.type === 'run-started' ? [event.runId] : [],
    );
    const runs = spans().filter(({ name }) => name === 'invoke_agent travel');
    const facts = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'travel',
      'gen_ai.conversation.id': 'trip-42',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 10,
    };
    expect(runs.map(({ attributes }) => attributes)).toEqual([
      {
        ...facts,
        'holdpoint.run.id': runIds[0],
        'holdpoint.status': 'waiting',
        'gen_ai.response.finish_reasons': ['tool-calls'],
      },
      {
        ...facts,
        'holdpoint.channel': 'web',
        'holdpoint.run.id': runIds[1],
        'holdpoint.status': 'completed',
        'gen_ai.response.finish_reasons': ['stop'],
      },
    ]);
  });

  test('each step with its model, its tokens and its finish reason, but without its text', async () => {
    const { tracer, spans, raw } = traced({ recordInputs: true, recordOutputs: true });
    await play({ tracer });
    const steps = raw().filter(({ name }) => name === 'chat scripted');
    expect(steps.map(({ kind }) => kind)).toEqual([2, 2]);
    const facts = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': 'trip-42',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 10,
    };
    expect(steps.map(({ attributes }) => attributes)).toMatchObject([
      { ...facts, 'holdpoint.step': 0, 'gen_ai.response.finish_reasons': ['tool-calls'] },
      { ...facts, 'holdpoint.step': 1, 'gen_ai.response.finish_reasons': ['stop'] },
    ]);
    expect(JSON.stringify(spans())).not.toMatch(/Let me see|Done\./);
  });

  test('the run within the app’s own span, next to a later span of the app', async () => {
    const { tracer, spans } = traced();
    const agent = speak(memoryWorld([{ text: 'Hi.' }]).agent({ name: 'travel' }));
    const thread = await agent.thread('t');
    await tracer.startActiveSpan('handle', async (handle) => {
      await agent.run('Hello', thread);
      tracer.startSpan('reply').end();
      handle.end();
    });
    expect(traces(spans())).toEqual([
      ['handle', '  invoke_agent travel', '    chat scripted', '  reply'],
    ]);
  });

  test('a run whose provider fails: the step and the run with the type of the error, and not its message', async () => {
    const { tracer, spans } = traced();
    const agent = speak(memoryWorld([{ fail: 'overloaded by hunter2' }]).agent());
    await tracer.startActiveSpan('handle', async (handle) => {
      await expect(agent.run('Book', await agent.thread('t'))).rejects.toThrow('overloaded');
      handle.end();
    });
    const failed = { status: 2, attributes: { 'error.type': 'Error' } };
    expect(spanOf(spans(), 'chat scripted')).toMatchObject(failed);
    expect(spanOf(spans(), 'invoke_agent')).toMatchObject(failed);
    expect(spanOf(spans(), 'invoke_agent').attributes['holdpoint.run.id']).toMatch(/./);
    expect(JSON.stringify(spans())).not.toContain('hunter2');
  });

  test('a run that was refused, by the code of the refusal', async () => {
    const { spans } = traced();
    const agent = speak(memoryWorld(script).agent());
    const { thread } = await agent.run('Book', await agent.thread('t'));
    await expect(agent.run('And?', thread)).rejects.toThrow();
    const refused = spans().findLast(({ name }) => name === 'invoke_agent');
    expect(refused).toMatchObject({ status: 2, attributes: { 'error.type': 'requests-open' } });
    expect(refused?.attributes).not.toHaveProperty('holdpoint.run.id');
  });

  test('a run that was stopped as cancelled, and without an error', async () => {
    const { spans } = traced();
    const begun = Promise.withResolvers<void>();
    const hanging = tool({
      inputSchema: cityInput,
      execute: async (_input, { abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal?.addEventListener('abort', () => reject(new Error('stopped')));
          begun.resolve();
        }),
    });
    const agent = speak(memoryWorld(script).agent({ tools: { look: hanging }, toolApproval: {} }));
    const thread = await agent.thread('t');
    const running = agent.run('Look', thread);
    await begun.promise;
    await agent.stop(thread);
    expect((await running).status).toBe('cancelled');
    const { status, attributes } = spanOf(spans(), 'invoke_agent');
    expect([status, attributes['holdpoint.status']]).toEqual([0, 'cancelled']);
  });

  test('two runs at the same time as two traces, each with what is its own', async () => {
    const { tracer, spans } = traced();
    await Promise.all([play({ tracer, name: 'one' }), play({ tracer, name: 'two' })]);
    for (const name of ['one', 'two']) {
      const own = traces(spans()).filter(([root]) => root === `invoke_agent ${name}`);
      expect(own.map((lines) => lines.length)).toEqual([6, 5]);
    }
  });
});

test('the run of a stream is one trace, whatever is active where its events are read', async () => {
  const { tracer, spans } = traced();
  const world = memoryWorld([
    { text: 'One two three.', calls: [look('c1', 'Rome')] },
    { text: 'Done it.' },
  ]);
  const agent = world.agent({ name: 'travel', tools: tracedTools(tracer) });
  const thread = await agent.thread('t');
  const events = agent.stream('Look', thread)[Symbol.asyncIterator]();
  const read = async (name: string) =>
    tracer.startActiveSpan(name, async (span) => {
      const { done } = await events.next();
      expect(trace.getActiveSpan()).toBe(span);
      span.end();
      return done === true;
    });
  let isOver = await read('first');
  while (!isOver) isOver = await read('later');
  const [first, ...later] = traces(spans());
  expect(first).toEqual([
    'first',
    '  invoke_agent travel',
    '    chat scripted',
    '    execute_tool look',
    '      airline',
    '    chat scripted',
  ]);
  expect(later.length).toBeGreaterThan(5);
  expect(later.flat().filter((line) => line !== 'later')).toEqual([]);
});

test('a stream that breaks off in the middle: the step has the type of what broke it', async () => {
  const { spans } = traced();
  const { model } = scriptedModel([]);
  const breaking = Object.assign(Object(model), {
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: '1' });
          controller.enqueue({ type: 'text-delta', id: '1', delta: 'Once' });
          controller.enqueue({ type: 'error', error: new RangeError('hunter2') });
          controller.close();
        },
      }),
    }),
  });
  const agent = memoryWorld([]).agent({ model: breaking });
  const { response } = agent.stream('Tell', await agent.thread('t'));
  await expect(response).rejects.toThrow(RangeError);
  for (const name of ['chat scripted', 'invoke_agent']) {
    expect(spanOf(spans(), name).attributes['error.type']).toBe('RangeError');
  }
});

test.each([
  ['openai.responses', 'openai'],
  ['anthropic.messages', 'anthropic'],
  ['google.generative-ai', 'gcp.gemini'],
  ['google.vertex.chat', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['xai.chat', 'x_ai'],
  ['groqish', 'groqish'],
])('the provider %s has the name that the conventions have for it: %s', async (provider, name) => {
  const { spans } = traced();
  const model = Object.assign(Object(scriptedModel([{ text: 'Hi.' }]).model), { provider });
  const agent = memoryWorld([]).agent({ model });
  await agent.run('Hello', await agent.thread('t'));
  expect(spans().map(({ attributes }) => attributes['gen_ai.provider.name'])).toEqual([name, name]);
});

test('a tool says what kind it is and what it is for, unless a function says it of a context', async () => {
  const { spans } = traced();
  const secretive = tool({
    description: ({ context }) => `look for ${JSON.stringify(context)}`,
    inputSchema: cityInput,
    contextSchema: cityInput,
    execute: async () => 'x',
  });
  const agent = memoryWorld([
    { calls: [look('c1', 'Rome'), { id: 'c2', name: 'secretive', input: { city: 'Oslo' } }] },
    { text: 'Done.' },
  ]).agent({
    tools: { ...travelTools([]), secretive },
    toolsContext: { secretive: { city: 'hunter2' } },
  });
  await agent.run('Look', await agent.thread('t'));
  expect(spanOf(spans(), 'execute_tool look').attributes).toMatchObject({
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.description': 'look a flight',
  });
  const { attributes } = spanOf(spans(), 'execute_tool secretive');
  expect(attributes).toMatchObject({ 'gen_ai.tool.type': 'function' });
  expect(attributes).not.toHaveProperty('gen_ai.tool.description');
});
