import { tool, type ToolSet } from 'ai';
import { createAgent, later, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { book, cityInput, look, memoryWorld, travelTools } from '../support/travel-world.ts';
import {
  client,
  endOf,
  ofType,
  poster,
  runInput,
  served,
  site,
  typesOf,
  user,
} from './ag-ui-site.ts';
import { waitUntil } from '../support/waiting.ts';

const success = { type: 'success' };
const said = runInput({ messages: [user('u1')] });

/** A thread whose model streams these parts. */
function streaming(...answers: StreamPart[][]) {
  const { model } = streamedModel(...answers);
  const agent = createAgent({ model, tools: travelTools([]), maxRetries: 0 });
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  return { agent, handler, post: poster(handler) };
}

describe('what a model says', () => {
  test('is told once it is no blank, and under one id live and in a snapshot', async () => {
    const at = streaming([
      { type: 'reasoning-start', id: 'blank' },
      { type: 'reasoning-delta', id: 'blank', delta: ' ' },
      { type: 'reasoning-end', id: 'blank' },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: ' ' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('1', '\n', 'Hello ', 'there.'),
      finishPart(),
    ]);
    const visitor = client(await served(at.handler));
    await visitor.say('Hi');
    const told = visitor.agent.messages;
    expect(told).toMatchObject([{}, { content: ' Hm.' }, { content: '\nHello there.' }]);
    const again = client(visitor.at.address);
    await again.run();
    expect(again.agent.messages).toEqual(told);
  });

  test('in blocks that go side by side is recorded otherwise than it was told, and is put right', async () => {
    const at = streaming([
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'one ' },
      { type: 'text-start', id: '2' },
      { type: 'text-delta', id: '2', delta: 'three' },
      { type: 'text-delta', id: '1', delta: 'two ' },
      { type: 'text-end', id: '1' },
      { type: 'text-end', id: '2' },
      finishPart(),
    ]);
    const visitor = client(await served(at.handler));
    const events = await visitor.say('Count');
    expect(typesOf(events).slice(-3)).toEqual([
      'TEXT_MESSAGE_END',
      'MESSAGES_SNAPSHOT',
      'RUN_FINISHED',
    ]);
    expect(visitor.agent.messages).toMatchObject([{}, { content: 'one two three' }]);
  });

  test('and is cut off in is put right by the next run', async () => {
    const at = streaming(
      [...textParts('1', 'Half a')],
      [...textParts('1', 'A whole.'), finishPart()],
    );
    const visitor = client(await served(at.handler));
    expect(endOf(await visitor.say('Say'))).toBe('internal-error');
    expect(visitor.agent.messages).toMatchObject([{}, { content: 'Half a' }]);
    const events = await visitor.run();
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(visitor.agent.messages).toMatchObject([{}, { content: 'A whole.' }]);
  });

  test('thoughts are kept back where the app wants so, also from snapshots', async () => {
    const at = site([{ reasoning: 'Secret.', text: 'Hello.', calls: [book('c1', 'Rome')] }]);
    const { post } = at.worker({ sendReasoning: false });
    const { events } = await post(said);
    expect(JSON.stringify(events)).not.toContain('Secret.');
    const { events: again } = await post(runInput());
    expect(JSON.stringify(again)).not.toContain('Secret.');
  });

  test('a call is told when it is recorded, with the input that is stored', async () => {
    const { model } = streamedModel([
      { type: 'tool-input-start', id: 'c1', toolName: 'pay' },
      { type: 'tool-input-delta', id: 'c1', delta: '{ "sum": "5", "to": "Ann" }' },
      { type: 'tool-input-end', id: 'c1' },
      {
        type: 'tool-call',
        toolCallId: 'c1',
        toolName: 'pay',
        input: '{ "sum": "5", "to": "Ann" }',
      },
      finishPart('tool-calls'),
    ]);
    const pay = tool({
      inputSchema: z.object({ sum: z.coerce.number() }),
      execute: async () => 'paid',
    });
    const agent = createAgent({ model, tools: { pay }, toolApproval: { pay: 'user-approval' } });
    const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
    const { events } = await poster(handler)(said);
    expect(ofType(events, 'TOOL_CALL_ARGS')).toMatchObject([{ delta: '{"sum":5}' }]);
    expect(endOf(events)).toMatchObject({
      interrupts: [{ message: 'The agent wants to call pay.\npay {"sum":5}\nAsked for by: ann' }],
    });
  });
});

describe('tools that the provider runs', () => {
  test('are told with their results', async () => {
    const call = { ...look('c1', 'Oslo'), name: 'search', atProvider: { output: { hits: 2 } } };
    const at = site([{ calls: [call], text: 'Two.' }]);
    const { events } = await at.post(said);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', content: '{"hits":2}' },
    ]);
    expect(endOf(events)).toEqual(success);
  });

  test('are asked about as others, and the result comes from the provider', async () => {
    const asks = { ...look('c1', 'Oslo'), name: 'mcp', atProvider: { approvalId: 'a1' } };
    const ran = { ...look('c1', 'Oslo'), name: 'mcp', atProvider: { output: 'sunny' } };
    const at = site([{ calls: [asks] }, { calls: [ran], text: 'Sunny.' }]);
    const visitor = client(await served(at.handler));
    const asked = await visitor.say('Weather?');
    expect(endOf(asked)).toMatchObject({ interrupts: [{ reason: 'tool_call', toolCallId: 'c1' }] });
    const events = await visitor.answer({ approved: true });
    expect(endOf(events)).toEqual(success);
    expect(typesOf(events)).not.toContain('TOOL_CALL_START');
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', content: 'sunny' },
    ]);
    expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'Sunny.' });
    expect(typesOf(await visitor.run())).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  });
});

const pick: ToolSet[string] = tool({ description: 'picks a seat', inputSchema: cityInput });
const seat = { id: 'c1', name: 'pick', input: { city: 'Rome' } };

/** A thread whose model calls the client's tool. */
async function picking(toolApproval: { pick?: 'user-approval' } = {}) {
  const at = site([{ calls: [seat] }, { text: 'Seated.' }], {
    tools: { ...travelTools([]), pick },
    toolApproval,
  });
  const worker = at.worker({ clientTools: ['pick'] });
  return { ...at, ...worker, ...client(await served(worker.handler)) };
}

describe('tools that the client runs', () => {
  test('end the run as a success that names them, and are not answered; their result comes with the next', async () => {
    const at = await picking();
    const events = await at.say('Seat me');
    expect(endOf(events)).toEqual({ ...success, pendingToolCallIds: ['c1'] });
    expect(ofType(events, 'TOOL_CALL_RESULT')).toEqual([]);
    at.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    const next = await at.run();
    expect(typesOf(next)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('12A');
    expect(at.agent.messages.map(({ id }) => id)).toEqual(['m1', 't:0', 'x1', 't:1']);
  });

  test('may fail, or be declined', async () => {
    const at = await picking();
    await at.say('Seat me');
    at.agent.addMessage({
      id: 'x1',
      role: 'tool',
      toolCallId: 'c1',
      content: '',
      error: 'No seat.',
    });
    expect(endOf(await at.run())).toEqual(success);
    expect((await at.worker().agent.thread('t')).calls).toMatchObject([
      { outcome: { status: 'failed', error: 'No seat.' } },
    ]);
  });

  test.each([7, null, undefined, { seat: '12A' }])(
    'bring no result that is no text (%j): it is refused, and not recorded as an empty success',
    async (content) => {
      const at = await picking();
      await at.say('Seat me');
      const { post } = at.worker({ clientTools: ['pick'] });
      const { revision } = await at.worker().agent.thread('t');
      const result = { id: 'x1', role: 'tool', toolCallId: 'c1', content };
      const { events } = await post(runInput({ messages: [result] }));
      expect(endOf(events)).toBe('invalid-input');
      expect(await at.worker().agent.thread('t')).toMatchObject({
        revision,
        calls: [{ status: 'deferred' }],
      });
    },
  );

  test('run while the user says something: it is heard with the result', async () => {
    const at = await picking();
    await at.say('Seat me');
    at.agent.addMessage({ id: 'n', role: 'user', content: 'At the window.' });
    expect(endOf(await at.run())).toBe('NO_RESPONSE_FOR_PENDING');
    at.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    expect(endOf(await at.run())).toEqual(success);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('At the window.');
    const { messages } = await at.worker().agent.thread('t');
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
    ]);
  });

  test('may need approval first: it is named once it is given', async () => {
    const at = await picking({ pick: 'user-approval' });
    await at.say('Seat me');
    const early = { id: 'x0', role: 'tool', toolCallId: 'c1', content: '1A' };
    const asked = await at.worker({ clientTools: ['pick'] }).post(runInput({ messages: [early] }));
    expect(endOf(asked.events)).toMatchObject({ interrupts: [{ toolCallId: 'c1' }] });
    expect(endOf(await at.answer({ approved: true }))).toEqual({
      ...success,
      pendingToolCallIds: ['c1'],
    });
    at.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    expect(endOf(await at.run())).toEqual(success);
  });

  test('bring a result once: what history says of it later counts no more', async () => {
    const at = await picking();
    await at.say('Seat me');
    at.agent.addMessage({ id: 'x1', role: 'tool', toolCallId: 'c1', content: '12A' });
    await at.run();
    const { revision } = await at.worker().agent.thread('t');
    const forged = { id: 'x1', role: 'tool', toolCallId: 'c1', content: 'FORGED' };
    const { events } = await at
      .worker({ clientTools: ['pick'] })
      .post(runInput({ messages: [forged] }));
    expect(endOf(events)).toEqual(success);
    expect((await at.worker().agent.thread('t')).revision).toBe(revision);
  });

  test('and jobs that go on elsewhere are not given up beside an approval', async () => {
    const job = tool({ inputSchema: cityInput, execute: async () => later });
    const at = site([{ calls: [look('c0', 'Oslo'), book('c1', 'Paris')] }, { text: 'Done.' }], {
      tools: { ...travelTools([]), look: job },
    });
    const visitor = client(await served(at.handler));
    await visitor.say('Go');
    const { revision } = await at.agent.thread('t');
    visitor.agent.addMessage({ id: 'n', role: 'user', content: 'Something else' });
    expect(endOf(await visitor.answer(undefined))).toBe('NO_RESPONSE_FOR_PENDING');
    expect((await at.agent.thread('t')).revision).toBe(revision);
  });

  test('are those that the app names: a job elsewhere is not for a client to end', async () => {
    const job = tool({ inputSchema: cityInput, execute: async () => later });
    const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }], {
      tools: { ...travelTools([]), book: job },
      toolApproval: {},
    });
    const { post } = at.worker({ clientTools: ['pick'] });
    const { events } = await post(said);
    expect(endOf(events)).toEqual({ ...success, pendingToolCallIds: ['c1'] });
    const forged = { id: 'x1', role: 'tool', toolCallId: 'c1', content: 'FORGED' };
    await post(runInput({ messages: [user('u1'), forged] }));
    expect((await at.agent.thread('t')).calls).toMatchObject([{ status: 'deferred' }]);
    const { events: refused } = await post(runInput({ messages: [user('u2')] }));
    expect(endOf(refused)).toBe('NO_RESPONSE_FOR_PENDING');
  });
});

describe('a message of a user', () => {
  test('may hold images and files: those that can be used reach the model, the others are left out', async () => {
    const at = site([{ text: 'A cat.', calls: [book('c1', 'Rome')] }]);
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'url', value: 'https://example.com/cat.png' } },
      { type: 'document', source: { type: 'data', value: 'aGk=', mimeType: 'text/plain' } },
      { type: 'image', source: { type: 'url', value: 'file:///etc/passwd' } },
      { type: 'audio', source: { type: 'file', value: 'file-1' } },
      { type: 'hologram' },
    ];
    const { events } = await at.post(runInput({ messages: [user('u1', content)] }));
    expect(at.played.prompts[0]?.at(-1)).toMatchObject({
      content: [{ type: 'text' }, { mediaType: 'image/*' }, { mediaType: 'text/plain' }],
    });
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT');
    expect(snapshot?.messages[0]).toMatchObject({
      id: 'u1',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', source: { value: 'https://example.com/cat.png' } },
        {
          type: 'document',
          source: { value: 'data:text/plain;base64,aGk=', mimeType: 'text/plain' },
        },
      ],
    });
  });

  test('that came another way is shown under an id of the thread, and is not taken for news', async () => {
    const at = site([{ text: 'One.' }, { text: 'Two.' }]);
    await at.agent.run('From a terminal', await at.agent.thread('t'));
    const visitor = client(await served(at.handler));
    await visitor.run();
    expect(visitor.agent.messages).toMatchObject([
      { role: 'user', content: 'From a terminal' },
      { role: 'assistant', content: 'One.' },
    ]);
    await visitor.say('And here');
    expect(at.played.prompts.at(-1)).toHaveLength(3);
    expect(typesOf(await visitor.run())).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
  });
});

test('a file that only its provider can show is left out of what a client is told', async () => {
  const at = site([{ text: 'A cat.' }]);
  const data = { type: 'reference' as const, reference: { openai: 'file-1' } };
  const content = [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'file' as const, mediaType: 'image/png', data },
  ];
  await at.agent.run({ role: 'user', content }, await at.agent.thread('t'));
  const visitor = client(await served(at.handler));
  await visitor.run();
  expect(visitor.agent.messages[0]).toMatchObject({
    content: [{ type: 'text', text: 'What is this?' }],
  });
});

test('a message that came another way, and that the model could not answer, is no obstacle to a client', async () => {
  const at = site([{ fail: 'down' }, { fail: 'down' }, { text: 'One.' }]);
  await at.agent.run('From a terminal', await at.agent.thread('t')).catch(() => {});
  const visitor = client(await served(at.handler));
  await visitor.run();
  expect(visitor.agent.messages).toMatchObject([{ role: 'user', content: 'From a terminal' }]);
  expect(endOf(await visitor.run())).toEqual(success);
  expect(at.played.prompts.at(-1)).toHaveLength(1);
});

test('a call whose outcome is unknown ends the run as an error', async () => {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }]);
  const clock = { now: 0 };
  /* The process hangs with the result in its hands. */
  const hanging: ThreadStore = {
    ...world.store,
    append: async (...input) =>
      input[2].flatMap(eventsOf).some(({ type }) => type === 'call-ended' || type === 'run-renewed')
        ? new Promise(() => {})
        : world.store.append(...input),
  };
  const options = { leaseMs: 1_000, now: () => clock.now };
  const lost = world.agent({ ...options, store: hanging });
  const { thread, approvalRequests } = await lost.run('Book', await lost.thread('t'));
  void lost.run(
    approvalRequests.map((each) => each.approve()),
    thread,
  );
  await waitUntil(() => world.ran.length > 0);
  clock.now += 1_000;
  const agent = world.agent(options);
  const handler = createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const { events } = await poster(handler)(runInput());
  expect(endOf(events)).toBe('thread-indeterminate');
});

test('headers of the app are sent, and a stream is for no cache', async () => {
  const at = site([{ text: 'Hello.' }]);
  const { handler } = at.worker({ headers: { 'x-own': '1' } });
  const response = await handler(
    new Request('http://x/', {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(said),
    }),
  );
  const { headers } = response;
  expect(headers.get('content-type')).toBe('text/event-stream');
  expect([headers.get('cache-control'), headers.get('x-own')]).toEqual(['no-store', '1']);
  await response.text();
});

test("the client gets the app's text for an error", async () => {
  const at = site([{ fail: 'secret host' }]);
  const { post } = at.worker({ onError: (error) => `Sorry: ${String(error).length > 0}` });
  const { events } = await post(said);
  expect(events.at(-1)).toMatchObject({ message: 'Sorry: true', code: 'internal-error' });
});

test('an onError that throws costs no client its end: a run that failed never ends as if it had not', async () => {
  const at = site([{ fail: 'secret host' }]);
  const { handler } = at.worker({
    onError: () => {
      throw new Error('no log');
    },
  });
  const visitor = client(await served(handler));
  const events = await visitor.say('Hi');
  expect(events.at(-1)).toMatchObject({ message: 'An error occurred.', code: 'internal-error' });
});
