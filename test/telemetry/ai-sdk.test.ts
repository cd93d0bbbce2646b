import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  AI_SDK_TELEMETRY_TRACING_CHANNEL,
  registerTelemetry,
  type Telemetry,
  type TelemetryTracingChannelMessage,
} from 'ai';
import type { Agent } from 'holdpoint';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { streamingAgent } from '../support/streaming-agent.ts';
import { book, look, memoryWorld } from '../support/travel-world.ts';

/* The AI SDK's own hook, registered once for the process as an app does it, and its own channel. */
const heard: [string, object][] = [];
const hear = (name: string) => (event: object) => {
  heard.push([name, event]);
};
const integration: Telemetry = {
  onStart: hear('onStart'),
  onStepStart: hear('onStepStart'),
  onStepEnd: hear('onStepEnd'),
  onToolExecutionStart: hear('onToolExecutionStart'),
  onEnd: hear('onEnd'),
  onError: (error) => hear('onError')(Object(error)),
};
registerTelemetry(integration);

const channel = `tracing:${AI_SDK_TELEMETRY_TRACING_CHANNEL}:start`;
let published: TelemetryTracingChannelMessage<{ functionId?: string; runtimeContext?: object }>[];
const publish = (message: unknown) => published.push(Object(message));
subscribe(channel, publish);
afterAll(() => {
  unsubscribe(channel, publish);
});

beforeEach(() => {
  heard.length = 0;
  published = [];
});

const script = [{ calls: [look('c1', 'Rome'), book('c2', 'Paris')] }, { text: 'Done.' }];

describe.each([
  ['run', (agent: Agent): Agent => agent],
  ['stream', streamingAgent],
])("the AI SDK's telemetry of agent.%s", (_name, speak) => {
  async function play(telemetry: object) {
    const agent = speak(memoryWorld(script).agent({ telemetry }));
    const thread = await agent.thread('trip-42');
    const options = { runtimeContext: { threadId: thread.id, token: 'hunter2' } };
    const { approvalRequests } = await agent.run('Book', thread, options);
    await agent.run(
      approvalRequests.map((request) => request.approve()),
      thread,
      options,
    );
  }

  test('sees each model step, as an ai.generateText of one step whose tools it does not run', async () => {
    await play({ functionId: 'travel-planner' });
    const step = ['onStart', 'onStepStart', 'onStepEnd', 'onEnd'];
    expect(heard.map(([name]) => name)).toEqual([step, step].flat());
    expect(heard[0]?.[1]).toMatchObject({
      operationId: 'ai.generateText',
      functionId: 'travel-planner',
    });
    const operations = ['generateText', 'step', 'languageModelCall'];
    expect(published.map(({ type }) => type)).toEqual([operations, operations].flat());
    expect(published.map(({ event }) => event.functionId)).toEqual(
      Array.from({ length: 6 }, () => 'travel-planner'),
    );
  });

  test('finds the thread in what the app includes of the runtime context, and nothing else of it', async () => {
    await play({ includeRuntimeContext: { threadId: true } });
    const [, started] = heard[0] ?? [];
    expect(started).toMatchObject({ runtimeContext: { threadId: 'trip-42' } });
    expect(published[0]?.event.runtimeContext).toEqual({ threadId: 'trip-42' });
    expect(JSON.stringify([heard, published])).not.toContain('hunter2');
  });

  test('finds nothing of the runtime context unless it is included', async () => {
    await play({});
    expect(heard[0]?.[1]).toMatchObject({ runtimeContext: {} });
    expect(JSON.stringify([heard, published])).not.toContain('trip-42');
  });

  test('finds nothing of it where somebody else continues the turn', async () => {
    const agent = speak(
      memoryWorld(script).agent({ telemetry: { includeRuntimeContext: { role: true } } }),
    );
    const thread = await agent.thread('trip-42');
    const eve = { principal: 'eve', runtimeContext: { role: 'user' } };
    const { approvalRequests } = await agent.run('Book', thread, eve);
    const answers = approvalRequests.map((request) => request.approve());
    await agent.run(answers, thread, { principal: 'ada', runtimeContext: { role: 'admin' } });
    const started = heard.filter(([name]) => name === 'onStart');
    expect(started.map(([, event]) => Reflect.get(Object(event), 'runtimeContext'))).toEqual([
      { role: 'user' },
      {},
    ]);
  });

  test('receives nothing when it is turned off', async () => {
    await play({ isEnabled: false });
    expect(heard).toEqual([]);
    expect(published).toEqual([]);
  });

  test('receives a failed step', async () => {
    const agent = speak(memoryWorld([{ fail: 'overloaded' }]).agent());
    await expect(agent.run('Book', await agent.thread('t'))).rejects.toThrow('overloaded');
    expect(heard.map(([name]) => name)).toContain('onError');
  });
});
