import { OpenTelemetry } from '@ai-sdk/otel';
import { generateText, registerTelemetry, stepCountIs, streamText, wrapLanguageModel } from 'ai';
import { memoryStore } from 'holdpoint';
import { guardTools, holdPoint } from 'holdpoint/middleware';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { modes } from '../support/streaming-agent.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look, memoryWorld, travelTools } from '../support/travel-world.ts';
import { exporting } from './exported.ts';
import { traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';
import { pickCases } from '../support/sampling.ts';

tracingTests();

/* Registered once for the process, as an app does it. */
const exported = exporting();
beforeAll(() => registerTelemetry(new OpenTelemetry({ tracer: exported.tracer })));
beforeEach(() => {
  exported.reset();
  traced({}, exported);
});

const calls = [look('c1', 'Rome'), book('c2', 'Paris')];
const script = [{ calls }, { text: 'Done.' }];
const step = ['  invoke_agent scripted', '    step 1', '      chat scripted'];

describe.each(pickCases(modes))("with the AI SDK's own OpenTelemetry, agent.$mode", ({ speak }) => {
  async function play(telemetry: object) {
    const agent = speak(memoryWorld(script).agent({ name: 'travel', telemetry }));
    const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.approve());
    await agent.run(answers, thread);
    return traces(exported.spans());
  }

  test('is one trace a run, with its spans of the model in place of ours', async () => {
    expect(await play({})).toEqual([
      [
        'invoke_agent travel',
        ...step,
        '  approval_request book',
        '    approval_wait book',
        '  execute_tool look',
      ],
      ['invoke_agent travel', '  approval_decision book', '  execute_tool book', ...step],
    ]);
  });

  test('has our spans of the model where its telemetry is off for the agent', async () => {
    const [first] = await play({ isEnabled: false });
    expect(first?.filter((line) => line.includes('scripted'))).toEqual(['  chat scripted']);
  });
});

test('a guarded call in a loop of the AI SDK is within its step', async () => {
  const tools = guardTools(travelTools([]), { store: memoryStore(), threadId: 'trip-42' });
  const { model } = scriptedModel([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]);
  await generateText({ model, tools, prompt: 'Look', stopWhen: stepCountIs(2) });
  expect(traces(exported.spans())).toEqual([
    [
      'invoke_agent scripted',
      '  step 1',
      '    chat scripted',
      '    execute_tool look',
      '      execute_tool look',
      '  step 2',
      '    chat scripted',
    ],
  ]);
});

/** A model of holdPoint, whose agent searches a flight. */
function heldModel() {
  const { model } = scriptedModel([{ calls: [look('c1', 'Rome')] }, { text: 'Done.' }]);
  const middleware = holdPoint({
    tools: travelTools([]),
    toolApproval: {},
    store: memoryStore(),
    name: 'travel',
  });
  return wrapLanguageModel({ model: Object(model), middleware });
}

const held = { prompt: 'Look', providerOptions: { holdpoint: { threadId: 't' } } };

test('an agent behind a model of holdPoint is within the call of that model', async () => {
  await generateText({ model: heldModel(), ...held });
  const lines = traces(exported.spans());
  expect(lines).toHaveLength(1);
  expect(lines[0]?.slice(0, 5)).toEqual([
    'invoke_agent scripted',
    '  step 1',
    '    chat scripted',
    '      invoke_agent travel',
    '        invoke_agent scripted',
  ]);
  expect(lines[0]).toContain('        execute_tool look');
});

test('the same, streamed, is within the call of that model, in the trace of what it was streamed for', async () => {
  await exported.tracer.startActiveSpan('handle', async (span) => {
    await streamText({ model: heldModel(), ...held }).consumeStream();
    span.end();
  });
  const lines = traces(exported.spans());
  expect(lines).toHaveLength(1);
  expect(lines[0]?.slice(0, 6)).toEqual([
    'handle',
    '  invoke_agent scripted',
    '    step 1',
    '      chat scripted',
    '        invoke_agent travel',
    '          invoke_agent scripted',
  ]);
});
