import { interactionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { storeKits } from '../support/store-kits.ts';
import { book, look } from '../support/travel-world.ts';
import { source } from '../tools/seed-interactions.ts';
import { client, custom, endOf, ofType, served, site, typesOf } from './ag-ui-site.ts';

const success = { type: 'success' };
const asking = { tools: interactionTools(), toolApproval: {} };
const two = [{ text: 'One moment.', calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];

/** A client of a site. */
async function visit(...input: Parameters<typeof site>) {
  const at = site(...input);
  return { ...at, ...client(await served(at.handler)) };
}

const interrupt = (...interrupts: object[]) => ({ type: 'interrupt', interrupts });

describe("the protocol's own client goes through", () => {
  test('a plain run', async () => {
    const at = await visit([{ reasoning: 'A greeting.', text: 'Hello there.' }]);
    const events = await at.say('Hi');
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(events[0]).toMatchObject({ threadId: 't', runId: 'r1', protocolVersion: '1.0' });
    expect(endOf(events)).toEqual(success);
    expect(at.agent.messages).toMatchObject([
      { id: 'm1', role: 'user', content: 'Hi' },
      { role: 'reasoning', content: 'A greeting.' },
      { role: 'assistant', content: 'Hello there.' },
    ]);
  });

  test('several turns; of the messages that it sends each time only the newest is news', async () => {
    const at = await visit([{ calls: [look('c1', 'Oslo')] }, { text: 'One.' }, { text: 'Two.' }]);
    await at.say('First');
    const events = await at.say('Second');
    expect(ofType(events, 'MESSAGES_SNAPSHOT')).toEqual([]);
    const asked = at.played.prompts.at(-1) ?? [];
    expect(asked.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
  });

  test('an approval that is given: the call runs once, and only its result is told', async () => {
    const at = await visit(two);
    const asked = await at.say('Book');
    expect(endOf(asked)).toMatchObject(
      interrupt({
        reason: 'tool_call',
        toolCallId: 'c1',
        message: expect.stringContaining('Paris'),
      }),
    );
    expect(at.agent.pendingInterrupts[0]?.responseSchema).toEqual({
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        digest: { const: expect.any(String) },
      },
      required: ['approved'],
      additionalProperties: false,
    });
    expect(at.world.ran).toEqual([]);
    const events = await at.answer({ approved: true });
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', content: '{"booked":"Paris"}' },
    ]);
    expect(endOf(events)).toEqual(success);
    expect(at.world.ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
    expect(at.agent.pendingInterrupts).toEqual([]);
    expect(at.agent.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
  });

  test('an approval that is refused: the call does not run, and the model reads why', async () => {
    const at = await visit(two);
    await at.say('Book');
    const events = await at.answer({ approved: false, reason: 'Too far.' });
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { content: 'Too far.', metadata: { holdpoint: { status: 'denied' } } },
    ]);
    expect(endOf(events)).toEqual(success);
    expect(at.world.ran).toEqual([]);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('Too far.');
  });

  test('two requests that are answered together', async () => {
    const at = await visit([
      { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
      { text: 'Done.' },
    ]);
    await at.say('Book');
    expect(at.agent.pendingInterrupts).toHaveLength(2);
    const events = await at.answer({ approved: true }, { approved: false });
    expect(
      ofType(events, 'TOOL_CALL_RESULT')
        .map(({ toolCallId }) => toolCallId)
        .toSorted(),
    ).toEqual(['c1', 'c2']);
    expect(at.world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
    expect(endOf(events)).toEqual(success);
  });

  test('a question with options and free text', async () => {
    const call = { id: 'q1', name: 'ask_question', input: source };
    const at = await visit([{ calls: [call] }, { text: 'Connected.' }], asking);
    await at.say('Connect');
    expect(at.agent.pendingInterrupts).toMatchObject([
      { reason: 'input_required', message: source.question, toolCallId: 'q1' },
    ]);
    const events = await at.answer({ selectedOptionId: 'postgres', freeText: 'v18' });
    expect(endOf(events)).toEqual(success);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('v18');
    const again = client(at.at.address);
    await again.run();
    expect(again.agent.messages).toEqual(at.agent.messages);
    expect(again.agent.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(custom(events, 'interaction_resolved')).toMatchObject([
      { selectedOptionId: 'postgres', freeText: 'v18', cancelled: false },
    ]);
  });

  test('a question that is cancelled is left, and the model goes on', async () => {
    const call = { id: 'q1', name: 'ask_question', input: source };
    const at = await visit([{ calls: [call] }, { text: 'As you like.' }], asking);
    await at.say('Connect');
    const events = await at.answer(undefined);
    expect(endOf(events)).toEqual(success);
    expect(custom(events, 'interaction_cancelled')).toHaveLength(1);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('cancelled');
  });

  test('an approval that is cancelled is not answered: it is asked again, and nothing has changed', async () => {
    const at = await visit(two);
    await at.say('Book');
    const [asked] = at.agent.pendingInterrupts;
    const { revision } = await at.worker().agent.thread('t');
    const events = await at.answer(undefined);
    expect(endOf(events)).toEqual(interrupt(asked ?? {}));
    expect((await at.worker().agent.thread('t')).revision).toBe(revision);
    expect(at.world.ran).toEqual([]);
  });

  test('an approval that is cancelled beside a new message is given up: the call is denied, and the message counts', async () => {
    const at = await visit(two);
    await at.say('Book');
    at.agent.addMessage({ id: 'n', role: 'user', content: 'Something else' });
    const events = await at.answer(undefined);
    expect(endOf(events)).toEqual(success);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', metadata: { holdpoint: { status: 'denied' } } },
    ]);
    expect(at.world.ran).toEqual([]);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('Something else');
  });

  test('an approval that is given and one that is cancelled: the first runs, the other is asked again', async () => {
    const at = await visit([
      { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
      { text: 'Done.' },
    ]);
    await at.say('Book');
    const events = await at.answer({ approved: true }, undefined);
    expect(endOf(events)).toMatchObject(interrupt({ toolCallId: 'c2' }));
    expect(at.world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
    expect(endOf(await at.answer({ approved: true }))).toEqual(success);
    expect(at.world.ran).toHaveLength(2);
  });

  test('an approval that has expired: the answer is refused, the call is closed, and cancelling goes on', async () => {
    const clock = { now: Date.now() };
    const toolApproval = { book: { type: 'user-approval', expiresAfterMs: 60_000 } } as const;
    const at = await visit(two, { toolApproval, now: () => clock.now });
    await at.say('Book');
    const [asked] = at.agent.pendingInterrupts;
    expect(asked?.expiresAt).toBe(new Date(clock.now + 60_000).toISOString());
    clock.now += 60_000;
    const late = await at.answer({ approved: true });
    expect(endOf(late)).toBe('request-closed');
    const thread = await at.worker().agent.thread('t');
    expect(thread.calls).toMatchObject([{ status: 'denied' }]);
    expect(at.played.requests).toBe(1);
    const events = await at.answer(undefined);
    expect(endOf(events)).toEqual(success);
    expect(at.agent.messages.at(-1)).toMatchObject({ content: 'Booked.' });
    expect(at.agent.pendingInterrupts).toEqual([]);
    expect(at.world.ran).toEqual([]);
  });

  test('an approval that expires later than any date can say', async () => {
    const toolApproval = { book: { type: 'user-approval', expiresAfterMs: 8.64e15 } } as const;
    const at = await visit(two, { toolApproval });
    await at.say('Book');
    expect(at.agent.pendingInterrupts[0]?.expiresAt).toBe('+275760-09-13T00:00:00.000Z');
    expect(endOf(await at.answer({ approved: true }))).toEqual(success);
  });

  test('an approval that the client finds expired: it is cancelled, and the model is told', async () => {
    const clock = { now: Date.now() - 60_000 };
    const toolApproval = { book: { type: 'user-approval', expiresAfterMs: 60_000 } } as const;
    const at = await visit(two, { toolApproval, now: () => clock.now });
    await at.say('Book');
    clock.now += 60_000;
    await expect(at.answer({ approved: true })).rejects.toThrow('expired');
    const events = await at.answer(undefined);
    expect(endOf(events)).toEqual(success);
    expect(JSON.stringify(at.played.prompts.at(-1))).toContain('expired unanswered');
    expect(at.world.ran).toEqual([]);
  });

  test('a resume that is sent again: nothing runs twice, and the outcome is told', async () => {
    const at = await visit(two);
    await at.say('Book');
    const pending = at.agent.pendingInterrupts;
    const stale = at.agent.messages;
    await at.answer({ approved: true });
    const { revision } = await at.worker().agent.thread('t');
    at.agent.setMessages(stale);
    at.agent.pendingInterrupts = pending;
    const events = await at.answer({ approved: true });
    expect(endOf(events)).toEqual(success);
    expect(typesOf(events)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(at.agent.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: '{"booked":"Paris"}' },
      { role: 'assistant', content: 'Booked.' },
    ]);
    expect(at.world.ran).toHaveLength(1);
    expect((await at.worker().agent.thread('t')).revision).toBe(revision);
  });

  test('a resume with another payload than before is refused, and what it came to stands', async () => {
    const at = await visit(two);
    await at.say('Book');
    const pending = at.agent.pendingInterrupts;
    await at.answer({ approved: false });
    at.agent.pendingInterrupts = pending;
    expect(endOf(await at.answer({ approved: true }))).toBe('already-answered');
    expect(at.world.ran).toEqual([]);
    expect(endOf(await at.answer(undefined))).toEqual(success);
  });

  test('giving up on what has ended meanwhile is the way past it', async () => {
    const call = { id: 'q1', name: 'ask_question', input: source };
    const at = await visit([{ calls: [call] }, { text: 'Connected.' }], asking);
    await at.say('Connect');
    const other = client(at.at.address);
    await other.run();
    await other.answer({ selectedOptionId: 'postgres' });
    expect(endOf(await at.answer({ selectedOptionId: 'bigquery' }))).toBe('already-answered');
    expect(endOf(await at.answer(undefined))).toEqual(success);
    expect(at.agent.messages).toEqual(other.agent.messages);
    expect(at.played.requests).toBe(2);
  });

  test('a resume that leaves an interrupt out is refused, and nothing has changed', async () => {
    const at = await visit([
      { calls: [book('c1', 'Paris'), book('c2', 'Rome')] },
      { text: 'Done.' },
    ]);
    await at.say('Book');
    const [first, second] = at.agent.pendingInterrupts;
    const { revision } = await at.worker().agent.thread('t');
    /* The client itself refuses to send it while it knows of the other. */
    at.agent.pendingInterrupts = first === undefined ? [] : [first];
    const events = await at.answer({ approved: true });
    expect(endOf(events)).toBe('NO_RESPONSE_FOR_PENDING');
    expect(events.at(-1)).toMatchObject({ message: expect.stringContaining(second?.id ?? '?') });
    expect((await at.worker().agent.thread('t')).revision).toBe(revision);
    expect(at.world.ran).toEqual([]);
  });

  test('a message while people are asked is refused, and nothing has changed', async () => {
    const at = await visit(two);
    await at.say('Book');
    const { revision } = await at.worker().agent.thread('t');
    at.agent.pendingInterrupts = [];
    expect(endOf(await at.say('And?'))).toBe('NO_RESPONSE_FOR_PENDING');
    expect((await at.worker().agent.thread('t')).revision).toBe(revision);
  });

  test.each(storeKits)(
    'a restart of the server between the question and the answer, with $name',
    async (kit) => {
      using kept = kit.keep();
      const at = await visit(two, {}, kept.open);
      await at.say('Book');
      const again = at.worker();
      at.at.address = await served(again.handler);
      const events = await at.answer({ approved: true });
      expect(endOf(events)).toEqual(success);
      expect(typesOf(events)).not.toContain('MESSAGES_SNAPSHOT');
      expect(at.world.ran).toHaveLength(1);
      expect(at.agent.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'assistant',
      ]);
    },
  );

  test('a page that is loaded again: it is told what is asked, and can answer', async () => {
    const at = await visit(two);
    await at.say('Book');
    const again = client(at.at.address);
    const events = await again.run();
    expect(typesOf(events).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(endOf(events)).toMatchObject(interrupt({ toolCallId: 'c1' }));
    expect(again.agent.messages).toEqual(at.agent.messages);
    expect(endOf(await again.answer({ approved: true }))).toEqual(success);
    expect(at.world.ran).toHaveLength(1);
  });

  test('a run that the provider fails: the message is kept, and asking again goes on', async () => {
    const at = await visit([{ fail: 'secret host is down' }, { text: 'Hello.' }]);
    const failed = await at.say('Hi');
    expect(failed.at(-1)).toMatchObject({ code: 'internal-error', message: 'An error occurred.' });
    const events = await at.run();
    expect(endOf(events)).toEqual(success);
    expect(typesOf(events)).not.toContain('MESSAGES_SNAPSHOT');
    expect(at.played.prompts.at(-1)).toHaveLength(1);
    expect(at.agent.messages).toHaveLength(2);
  });

  test('a tool that fails', async () => {
    const fail = { id: 'c1', name: 'fail', input: { city: 'Rome' } };
    const at = await visit([{ calls: [fail] }, { text: 'Sorry.' }]);
    const events = await at.say('Go');
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { content: 'An error occurred.', metadata: { holdpoint: { status: 'failed' } } },
    ]);
    expect(JSON.stringify(at.played.prompts)).toContain('no flight to Rome');
  });

  test('a run that has taken all its steps: it is cancelled, and no success', async () => {
    const at = await visit([{ calls: [look('c1', 'Oslo')] }, { text: 'Done.' }], { maxSteps: 1 });
    expect(endOf(await at.say('Go'))).toEqual({ type: 'cancelled' });
    expect(endOf(await at.run())).toEqual(success);
  });
});

test('an approval that is about no tool is a confirmation', async () => {
  const at = site([{ text: 'Done.' }]);
  const visitor = client(await served(at.handler));
  await at.agent.requestApproval(await at.agent.thread('t'), { text: 'Send the report?' });
  await visitor.run();
  const [asked] = visitor.agent.pendingInterrupts;
  expect(asked).toMatchObject({ reason: 'confirmation', message: 'Send the report?' });
  expect(asked).not.toHaveProperty('toolCallId');
  expect(endOf(await visitor.answer({ approved: true }))).toEqual(success);
});
