import { isStepCount, type ModelMessage, pruneMessages } from 'ai';
import type { AgentOptions } from 'holdpoint';
import { sentMessages } from 'holdpoint/schemas';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { book, look, memoryWorld } from '../support/travel-world.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

type PrepareStep = NonNullable<AgentOptions['prepareStep']>;

const summary: ModelMessage = { role: 'system', content: 'So far: the user wants a flight.' };

/** The texts of the prompts that a scripted model received, without instructions. */
function sentTo(prompts: readonly unknown[]): string[] {
  return prompts.map((prompt) => JSON.stringify(prompt));
}

function prepared(events: readonly { type: string }[]): unknown[] {
  return events.flatMap((event) =>
    event.type === 'step-finished' ? [Reflect.get(event, 'prepared')] : [],
  );
}

test('what prepareStep returns for messages goes to the model only, and the log says what was sent', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  const prepareStep: PrepareStep = ({ messages }) =>
    messages.length > 2 ? { messages: [summary, ...messages.slice(-1)] } : undefined;
  const agent = world.agent({ prepareStep });
  const thread = await agent.thread('t');
  for (const text of ['a', 'b', 'c']) await agent.run(text, thread);
  expect(thread.messages).toHaveLength(6);
  expect(sentMessages(thread, 0)).toEqual([{ role: 'user', content: 'a' }]);
  expect(sentMessages(thread, 1)).toEqual([summary, { role: 'user', content: 'b' }]);
  /* The override carries forward: summary, b, its reply, and c are four messages, so it is made again. */
  expect(sentMessages(thread, 2)).toEqual([summary, { role: 'user', content: 'c' }]);
  expect(prepared(thread.events)).toEqual([
    undefined,
    { messages: [{ message: summary }, { from: 2, to: 3 }], messageCount: 3 },
    {
      messages: [
        { step: 1, index: 0 },
        { from: 4, to: 5 },
      ],
      messageCount: 5,
    },
  ]);
  const [first, second] = sentTo(world.played.prompts);
  expect(first).not.toContain('So far');
  expect(second).toContain('So far');
  expect(second).not.toContain('"One."');
});

test('an override carries forward to later steps, turns and processes, and a restored thread derives the same', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  let summaries = 0;
  const prepareStep: PrepareStep = ({ messages }) => {
    if (messages.length <= 2) return undefined;
    summaries += 1;
    return summaries === 1 ? { messages: [summary, ...messages.slice(-1)] } : undefined;
  };
  const first = world.agent({ prepareStep });
  await first.run('a', await first.thread('u'));
  await first.run('b', await first.thread('u'));
  const second = world.agent({ prepareStep });
  const thread = await second.thread('u');
  await second.run('c', thread);
  const reply = { role: 'assistant', content: [{ type: 'text', text: 'Two.' }] };
  const c = { role: 'user', content: 'c' };
  expect(sentMessages(thread, 2)).toMatchObject([summary, { content: 'b' }, reply, c]);
  expect(prepared(thread.events).at(-1)).toEqual({
    messages: [
      { step: 1, index: 0 },
      { from: 2, to: 5 },
    ],
    messageCount: 5,
  });
  const elsewhere = memoryWorld([]).agent();
  const restored = await elsewhere.restore(JSON.stringify(thread));
  expect(sentMessages(restored, 2)).toEqual(sentMessages(thread, 2));
  expect(() => sentMessages(thread, 3)).toThrow('has no step 3');
});

test('without prepareStep the whole thread is sent again', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]);
  const trimming = world.agent({ prepareStep: () => ({ messages: [summary] }) });
  await trimming.run('a', await trimming.thread('t'));
  const plain = world.agent();
  const thread = await plain.thread('t');
  await plain.run('b', thread);
  expect(sentMessages(thread, 0)).toEqual([summary]);
  expect(sentMessages(thread, 1)).toEqual(thread.messages.slice(0, 3));
});

test("the AI SDK's pruneMessages records only what it changed", async () => {
  const world = memoryWorld([
    { calls: [look('c1', 'Rome')] },
    { calls: [look('c2', 'Oslo')] },
    { text: 'Done.' },
  ]);
  const agent = world.agent({
    prepareStep: ({ messages }) => ({
      messages: pruneMessages({ messages, toolCalls: 'before-last-2-messages' }),
    }),
  });
  const { thread } = await agent.run('Look', await agent.thread('t'));
  expect(prepared(thread.events)).toEqual([
    undefined,
    undefined,
    {
      messages: [
        { from: 0, to: 1 },
        { from: 3, to: 5 },
      ],
      messageCount: 5,
    },
  ]);
  expect(thread.messages).toHaveLength(6);
});

test('steps are those of the turn, across approvals and agents', async () => {
  const world = memoryWorld([
    { text: 'Hi.' },
    { calls: [look('c1', 'Rome'), book('c2', 'Rome')] },
    { text: 'Booked.' },
  ]);
  const seen: unknown[] = [];
  const prepareStep: PrepareStep = ({ steps, stepNumber, threadId, threadMessages }) => {
    seen.push({ stepNumber, threadId, steps, count: threadMessages.length });
    return undefined;
  };
  const agent = world.agent({ prepareStep });
  const thread = await agent.thread('t');
  await agent.run('Hello', thread);
  const { approvalRequests } = await agent.run('Book', thread);
  const other = world.agent({ prepareStep });
  const answers = approvalRequests.map((request) => request.approve());
  await other.run(answers, await other.thread('t'));
  expect(seen).toMatchObject([
    { stepNumber: 0, steps: [], count: 1 },
    { stepNumber: 0, steps: [], count: 3 },
    {
      stepNumber: 1,
      threadId: 't',
      count: 5,
      steps: [
        {
          stepNumber: 0,
          text: '',
          finishReason: 'tool-calls',
          toolCalls: [{ toolName: 'look' }, { toolName: 'book' }],
          toolResults: [{ output: 'a flight to Rome' }, { output: { booked: 'Rome' } }],
          usage: { inputTokens: 3 },
        },
      ],
    },
  ]);
});

test('model, instructions, tools and settings of a step are used and recorded', async () => {
  const world = memoryWorld([{ text: 'Never.' }]);
  const other = scriptedModel([{ calls: [look('c1', 'Rome')] }, { text: 'Other.' }]);
  const prepareStep: PrepareStep = ({ stepNumber }) =>
    stepNumber === 0
      ? { model: other.model, instructions: 'Be brief.', activeTools: ['book'], temperature: 0.5 }
      : { model: other.model, toolChoice: 'none' };
  const agent = world.agent({ prepareStep, instructions: 'Be kind.' });
  const { thread, text } = await agent.run('Look', await agent.thread('t'));
  expect(text).toBe('Other.');
  expect(prepared(thread.events)).toEqual([
    { model: 'scripted', instructions: 'Be brief.', activeTools: ['book'] },
    { model: 'scripted', toolChoice: 'none' },
  ]);
  expect(sentTo(other.prompts)[0]).toContain('Be brief.');
  expect(sentTo(other.prompts)[1]).toContain('Be kind.');
  /* A call of a tool that the step excludes never runs. */
  expect(world.ran).toEqual([]);
  expect(thread.calls).toMatchObject([{ toolName: 'look', status: 'failed' }]);
});

test.each([
  ['toolsContext', {}],
  ['runtimeContext', {}],
  ['system', 'x'],
  ['toolApproval', {}],
])('a step can not change %s', async (name, value) => {
  const world = memoryWorld([{ text: 'Never.' }]);
  const agent = world.agent({ prepareStep: () => ({ [name]: value }) });
  const thread = await agent.thread('t');
  await expect(agent.run('a', thread)).rejects.toThrow(`prepareStep returned '${name}'`);
  expect(world.requests()).toBe(0);
});

test('a prepareStep that throws fails the step, as a provider does, and the next run tries again', async () => {
  const world = memoryWorld([{ text: 'Hi.' }]);
  let calls = 0;
  const prepareStep: PrepareStep = async () => {
    calls += 1;
    if (calls === 1) throw new Error('no summary');
    return undefined;
  };
  const agent = world.agent({ prepareStep });
  const thread = await agent.thread('t');
  await expect(agent.run('a', thread)).rejects.toThrow('no summary');
  expect(thread.failure).toMatchObject({ failures: 1, error: 'no summary' });
  expect(thread.messages).toHaveLength(1);
  expect(await agent.run([], thread)).toMatchObject({ text: 'Hi.' });
});

test.each<[string, PrepareStep]>([
  ['a result without its call', ({ messages }) => ({ messages: messages.slice(-1) })],
  ['a call without its result', ({ messages }) => ({ messages: messages.slice(0, -1) })],
])('%s is refused before the model is asked', async (_what, cut) => {
  const world = memoryWorld([{ calls: [look('c1', 'Rome')] }, { text: 'Never.' }]);
  const prepareStep: PrepareStep = (options) =>
    options.stepNumber === 0 ? undefined : cut(options);
  const agent = world.agent({ prepareStep });
  await expect(agent.run('Look', await agent.thread('t'))).rejects.toThrow(/result/);
  expect(world.requests()).toBe(1);
});

const mail = { id: 'c1', name: 'mail', input: {}, atProvider: { approvalId: 'a1' } };

test.each<[string, (messages: ModelMessage[]) => ModelMessage[]]>([
  ['left out', (messages) => messages.slice(0, 1)],
  [
    'given without its request',
    (messages) => [messages[0], messages[2]].flatMap((each) => each ?? []),
  ],
  ['followed by something else', (messages) => [...messages, { role: 'user', content: 'And?' }]],
  ['forged', (messages) => messages.map((message) => forged(message))],
])("an answer to a provider's request can not be %s", async (_what, change) => {
  const world = memoryWorld([{ calls: [mail] }, { text: 'Never.' }]);
  const prepareStep: PrepareStep = ({ stepNumber, messages }) =>
    stepNumber === 0 ? undefined : { messages: change(messages) };
  const agent = world.agent({ prepareStep });
  const { approvalRequests, thread } = await agent.run('Mail', await agent.thread('t'));
  const answers = approvalRequests.map((request) => request.reject('no'));
  await expect(agent.run(answers, thread)).rejects.toThrow("an answer to a provider's request");
  expect(world.requests()).toBe(1);
});

function forged(message: ModelMessage): ModelMessage {
  return JSON.parse(JSON.stringify(message).replace('"approved":false', '"approved":true'));
}

test('an old answer to a provider is not sent again without what followed it', async () => {
  const world = memoryWorld([{ calls: [mail] }, { text: 'Sent.' }, { text: 'Never.' }]);
  const agent = world.agent({
    prepareStep: ({ messages }) =>
      messages.length === 5 ? { messages: messages.slice(0, 3) } : undefined,
  });
  const { approvalRequests, thread } = await agent.run('Mail', await agent.thread('t'));
  await agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await expect(agent.run('Next', thread)).rejects.toThrow("an answer to a provider's request");
  expect(world.requests()).toBe(2);
});

test.each<[string, number[]]>([
  ['twice', [0, 1, 2, 3, 4, 1, 2, 3, 4, 5]],
  ['without its request', [0, 2, 3, 4, 5]],
  ['without the message after it', [0, 1, 2, 4, 5]],
  ['without the reply after it', [0, 1, 2, 3, 5]],
  ['at the end', [0, 4, 5, 1, 2, 3]],
])('an old answer to a provider is not sent again %s', async (_what, kept) => {
  const world = memoryWorld([
    { calls: [mail, look('c2', 'Rome')] },
    { text: 'Sent.' },
    { text: 'Never.' },
  ]);
  const prepareStep: PrepareStep = ({ messages }) =>
    messages.length === 6 ? { messages: kept.flatMap((at) => messages[at] ?? []) } : undefined;
  const agent = world.agent({ prepareStep, toolApproval: { look: 'user-approval' } });
  const waiting = await agent.run('Mail', await agent.thread('t'));
  const { thread } = waiting;
  const [first, second] = waiting.approvalRequests.map((request) => request.approve());
  if (first === undefined || second === undefined) throw new Error('Two approvals are asked for.');
  await agent.run([first, 'Typed meanwhile', second], thread);
  expect(thread.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'user',
    'assistant',
  ]);
  await expect(agent.run('Next', thread)).rejects.toThrow("an answer to a provider's request");
  expect(world.requests()).toBe(2);
});

test('the steps of a turn are counted as before after a later message was retracted', async () => {
  const world = memoryWorld([{ calls: [look('c1', 'Rome')] }, { fail: 'no' }, { text: 'Done.' }]);
  const numbers: number[] = [];
  const prepareStep: PrepareStep = ({ stepNumber }) => {
    numbers.push(stepNumber);
    return undefined;
  };
  const agent = world.agent({ prepareStep, maxSteps: 1 });
  const thread = await agent.thread('t');
  await agent.run('Look', thread);
  await expect(agent.run('Oops', thread)).rejects.toThrow('no');
  await agent.retract(thread);
  expect(await agent.run([], thread)).toMatchObject({ text: 'Done.' });
  expect(numbers).toEqual([0, 0, 1]);
});

test('a person who stops a prepared step leaves the record of what was sent', async () => {
  const world = memoryWorld([{ text: 'one two three' }, { text: 'Then.' }]);
  const agent = world.agent({
    prepareStep: ({ messages }) => ({ messages: [summary, ...messages.slice(-1)] }),
  });
  const thread = await agent.thread('t');
  for await (const event of agent.stream('Go', thread)) {
    if (event.type === 'text-delta') await agent.stop(thread);
  }
  expect(prepared(thread.events)).toMatchObject([{ messageCount: 1 }]);
  expect(sentMessages(thread, 0)).toEqual([summary, { role: 'user', content: 'Go' }]);
});

test('conditions of the AI SDK and steps of a run fit the types', () => {
  const options: Pick<AgentOptions, 'stopWhen'> = { stopWhen: isStepCount(2) };
  const event: Pick<ThreadEventOf<'step-finished'>, 'prepared'> = { prepared: { model: 'm' } };
  expect([options, event]).toHaveLength(2);
});
