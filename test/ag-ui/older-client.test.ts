import { tool, type ToolSet } from 'ai';
import { later } from 'holdpoint';
import { askUserQuestion, interactionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { book, cityInput, look, travelTools } from '../support/travel-world.ts';
import { source } from '../tools/seed-interactions.ts';
import { post, runInput, site, user } from './ag-ui-site.ts';
import { olderClient, olderEvents } from './older-client.ts';

const pickTool: ToolSet[string] = tool({ inputSchema: z.object({ colours: z.array(z.string()) }) });
const pick = { id: 'c1', name: 'pick', input: { colours: ['red', 'blue'] } };

/** An older client of a site. */
function visit(...input: Parameters<typeof site>) {
  const at = site(...input);
  return { ...at, ...olderClient(at.handler) };
}

describe('a client that sends no protocolVersion, as the one that CopilotKit pins,', () => {
  test('gets a plain run, and sees what the model said', async () => {
    const at = visit([{ reasoning: 'A greeting.', text: 'Hello there.' }]);
    const { last } = await at.say('Hi');
    expect(at.posted[0]).not.toHaveProperty('protocolVersion');
    expect(last).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(at.agent.messages).toMatchObject([
      { content: 'Hi' },
      { role: 'reasoning' },
      { content: 'Hello there.' },
    ]);
  });

  test('can read what waits, and answer it', async () => {
    const at = visit([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const asked = await at.say('Book');
    expect(asked.last).toMatchObject({ outcome: { type: 'interrupt' } });
    expect(at.agent.pendingInterrupts).toMatchObject([
      {
        toolCallId: 'c1',
        message: expect.stringContaining('Paris'),
        responseSchema: { required: ['approved'] },
        metadata: { holdpoint: { type: 'approval-request' } },
      },
    ]);
    const { last } = await at.answer({ approved: true });
    expect(last).toMatchObject({ outcome: { type: 'success' } });
    expect(at.world.ran).toHaveLength(1);
    expect(at.agent.messages.at(-1)).toMatchObject({ content: 'Booked.' });
  });

  test('keeps the run in which the model calls a tool of the client, and brings its result', async () => {
    const at = site([{ text: 'One moment.', calls: [pick] }, { text: 'Red it is.' }], {
      tools: { ...travelTools([]), pick: pickTool },
    });
    const visitor = olderClient(at.worker({ clientTools: ['pick'] }).handler);
    const called = await visitor.say('Which colour?');
    expect(called.last).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(called.result).toEqual({ status: 'waiting', pendingToolCallIds: ['c1'] });
    expect(visitor.agent.messages.at(-1)).toMatchObject({
      content: 'One moment.',
      toolCalls: [{ id: 'c1', function: { name: 'pick' } }],
    });
    visitor.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'c1', content: 'red' });
    const { last } = await visitor.run();
    expect(last).toMatchObject({ outcome: { type: 'success' } });
    expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'Red it is.' });
  });

  test('keeps the run in which a tool works elsewhere, and hears of its result in the next', async () => {
    const far = tool({ inputSchema: cityInput, execute: async () => later });
    const at = visit([{ calls: [look('c1', 'Oslo')] }, { text: 'It flies.' }], {
      tools: { ...travelTools([]), look: far },
    });
    const { result } = await at.say('Look');
    expect(result).toEqual({ status: 'waiting', pendingToolCallIds: ['c1'] });
    const { agent } = at.worker();
    await agent.deliver(await agent.thread('t'), 'c1', { status: 'succeeded', output: 'KL 1' });
    await at.run();
    expect(at.agent.messages.slice(2)).toMatchObject([
      { role: 'tool', content: 'KL 1' },
      { content: 'It flies.' },
    ]);
  });

  test('keeps a run that has taken all its steps, reads that it did, and goes on', async () => {
    const at = visit([{ calls: [look('c1', 'Oslo')] }, { text: 'Done.' }], { maxSteps: 1 });
    const { last, result } = await at.say('Go');
    expect(last).toMatchObject({ type: 'RUN_FINISHED' });
    expect(last).not.toMatchObject({ outcome: expect.anything() });
    expect(result).toEqual({ status: 'max-steps' });
    expect(at.agent.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'c1' });
    await at.run();
    expect(at.agent.messages.at(-1)).toMatchObject({ content: 'Done.' });
  });

  test('keeps a turn that the person ended by leaving its question, and reads that it ended', async () => {
    const options = ['Red', 'Blue'].map((label) => ({ label, description: `All ${label}` }));
    const questions = [{ question: 'Which colour?', header: 'Colour', options }];
    const call = { id: 'q1', name: 'AskUserQuestion', input: { questions } };
    const at = visit([{ text: 'One question.', calls: [call] }, { text: 'Yes.' }], {
      tools: { AskUserQuestion: askUserQuestion() },
      toolApproval: {},
    });
    await at.say('Paint');
    const [interrupt] = at.agent.pendingInterrupts;
    const { last, result } = await at.run({
      resume: [{ interruptId: interrupt?.id ?? '', status: 'cancelled' }],
    });
    expect(last).toMatchObject({ type: 'RUN_FINISHED' });
    expect(last).not.toMatchObject({ outcome: expect.anything() });
    expect(result).toEqual({ status: 'cancelled' });
    await at.say('Go on');
    expect(at.agent.messages.at(-1)).toMatchObject({ content: 'Yes.' });
  });

  test('answers a question of the model', async () => {
    const call = { id: 'q1', name: 'ask_question', input: source };
    const at = visit([{ calls: [call] }, { text: 'Connected.' }], {
      tools: interactionTools(),
      toolApproval: {},
    });
    await at.say('Connect');
    const { last } = await at.answer({ selectedOptionId: 'postgres' });
    expect(last).toMatchObject({ outcome: { type: 'success' } });
  });

  test('reads why a run failed, and a page that is loaded again gets the conversation', async () => {
    const at = visit([
      { fail: 'the host is down' },
      { calls: [book('c1', 'Paris')] },
      { text: 'Booked.' },
    ]);
    const failed = await at.say('Book');
    expect(failed.last).toMatchObject({ type: 'RUN_ERROR', message: 'An error occurred.' });
    await at.run();
    const again = olderClient(at.handler);
    await again.run();
    expect(again.agent.messages).toEqual(at.agent.messages);
    expect(again.agent.pendingInterrupts).toEqual(at.agent.pendingInterrupts);
  });
});

test('every event that is sent to such a client is one that its package reads', async () => {
  const call = { id: 'q1', name: 'ask_question', input: source };
  const script = [
    { reasoning: 'Hm.', text: 'One moment.', calls: [look('c1', 'Oslo'), call] },
    { fail: 'the host is down' },
  ];
  const tools = { ...travelTools([]), ...interactionTools() };
  const { handler } = site(script, { tools, toolApproval: {} });
  const seen = new Set<string>();
  const send = async (more: object) => {
    const response = await handler(post({ ...runInput(more), protocolVersion: undefined }));
    for (const { type } of olderEvents(await response.text())) seen.add(type);
  };
  const image = {
    type: 'image',
    source: { type: 'data', value: 'iVBORw0KGgo=', mimeType: 'image/png' },
  };
  await send({ messages: [user('u1', [{ type: 'text', text: 'Look' }, image])] });
  await send({ messages: [user('u2', 'And?')] });
  await send({ messages: [] });
  expect([...seen].toSorted()).toEqual([
    'CUSTOM',
    'MESSAGES_SNAPSHOT',
    'REASONING_END',
    'REASONING_MESSAGE_CONTENT',
    'REASONING_MESSAGE_END',
    'REASONING_MESSAGE_START',
    'REASONING_START',
    'RUN_ERROR',
    'RUN_FINISHED',
    'RUN_STARTED',
    'STATE_SNAPSHOT',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'TEXT_MESSAGE_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'TOOL_CALL_RESULT',
    'TOOL_CALL_START',
  ]);
});

test('a client of AG-UI 1.0 still gets the outcomes of 1.0', async () => {
  const at = site([{ calls: [look('c1', 'Oslo')] }], { maxSteps: 1 });
  const { events } = await at.post(runInput({ messages: [user('m', 'Go')] }));
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } });
});
