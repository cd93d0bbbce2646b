import { tool } from 'ai';
import { later } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { book, cityInput, look, travelTools } from '../support/travel-world.ts';
import { client, endOf, ofType, served, site } from './ag-ui-site.ts';
import { olderClient } from './older-client.ts';

const success = { type: 'success' };
const cancelling = { forwardedProps: { whilePending: 'cancel' } };

/** The text of a run's error, as a person reads it. */
function errorText(events: Parameters<typeof endOf>[0]): unknown {
  return ofType(events, 'RUN_ERROR')[0]?.message;
}

describe('a person who types while', () => {
  test('an approval waits reads what it is, and nothing of threads and requests', async () => {
    const toolApproval = { book: { type: 'user-approval', text: 'Book Paris?' } } as const;
    const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'As you like.' }], { toolApproval });
    const visitor = client(await served(at.handler));
    await visitor.say('Book');
    visitor.agent.pendingInterrupts = [];
    const events = await visitor.say('And a hotel?');
    expect(endOf(events)).toBe('NO_RESPONSE_FOR_PENDING');
    expect(errorText(events)).toBe(
      'Your message was not sent: the agent is waiting for an answer to “Book Paris?”. Answer or cancel, then send your message again.',
    );
    expect(at.played.requests).toBe(1);
  });

  test('several things wait reads of the first three, in one line each, with nothing hidden', async () => {
    const calls = ['a', 'b', 'c', 'd'].map((id) => ({
      id,
      name: 'ask_question',
      input: { question: `Which ${id}\u202e?${'x'.repeat(200)}\nmore` },
    }));
    const at = site([{ calls }], { tools: questionTools(), toolApproval: {} });
    const visitor = client(await served(at.handler));
    await visitor.say('Go');
    visitor.agent.pendingInterrupts = [];
    const text = errorText(await visitor.say('And?'));
    expect(text).toContain('“Which a\\u{202e}?xxx');
    expect(text).toContain('…” and 1 more. Answer or cancel');
    expect(text).not.toContain('more”');
  });

  test('a tool elsewhere is at work reads which; and may cancel it with the message', async () => {
    const far = tool({ inputSchema: cityInput, execute: async () => later });
    const at = site([{ calls: [look('c1', 'Oslo')] }, { text: 'Stopped.' }], {
      tools: { ...travelTools([]), look: far },
    });
    const visitor = client(await served(at.handler));
    await visitor.say('Look');
    const refused = await visitor.say('Never mind');
    expect(errorText(refused)).toBe(
      'Your message was not sent: “look” is still at work. Wait for the result or cancel it, then send your message again.',
    );
    const events = await visitor.run(cancelling);
    expect(endOf(events)).toEqual(success);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', metadata: { holdpoint: { status: 'failed' } } },
    ]);
    expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'Stopped.' });
  });

  test('an approval waits may cancel it with the message, in an older client too', async () => {
    const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'As you like.' }]);
    const visitor = olderClient(at.handler);
    await visitor.say('Book');
    visitor.agent.pendingInterrupts = [];
    const { last } = await visitor.say('Something else', cancelling);
    expect(last).toMatchObject({ outcome: success });
    expect(visitor.agent.messages.at(-1)).toMatchObject({ content: 'As you like.' });
    expect(at.world.ran).toEqual([]);
  });

  test('the agent works in another window reads that it does', async () => {
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<string>();
    const slow = tool({
      inputSchema: cityInput,
      execute: async () => {
        begun.resolve();
        return done.promise;
      },
    });
    const at = site([{ calls: [look('c1', 'Oslo')] }, { text: 'Rain.' }], {
      tools: { ...travelTools([]), look: slow },
    });
    const first = client(await served(at.handler)).say('Look');
    await begun.promise;
    const other = client(await served(at.worker().handler));
    other.agent.addMessage({ id: 'other', role: 'user', content: 'Hello?' });
    const events = await other.run();
    expect(endOf(events)).toBe('thread-busy');
    expect(errorText(events)).toBe(
      'Your message was not sent: the agent is still working. Send it again when it is done.',
    );
    done.resolve('rain');
    await first;
  });
});

test('who may chat, and may not answer, is refused by name, and nothing changes', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }], {
    mayAnswer: ({ principal }) => principal === 'boss',
  });
  const visitor = client(await served(at.handler));
  await visitor.say('Book');
  const { revision } = await at.agent.thread('t');
  expect(endOf(await visitor.answer({ approved: true }))).toBe('not-allowed');
  expect((await at.agent.thread('t')).revision).toBe(revision);
  expect(at.world.ran).toEqual([]);
  const boss = client(
    await served(at.worker({ authorize: () => ({ principal: 'boss' }) }).handler),
  );
  await boss.run();
  expect(endOf(await boss.answer({ approved: true }))).toEqual(success);
  expect(at.world.ran).toHaveLength(1);
});

test('to cancel without a message, or otherwise than so, cancels nothing', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }]);
  const visitor = client(await served(at.handler));
  await visitor.say('Book');
  visitor.agent.pendingInterrupts = [];
  expect(endOf(await visitor.run(cancelling))).toMatchObject({ type: 'interrupt' });
  visitor.agent.pendingInterrupts = [];
  visitor.agent.addMessage({ id: 'n', role: 'user', content: 'And?' });
  const events = await visitor.run({ forwardedProps: { whilePending: 'yes' } });
  expect(endOf(events)).toBe('NO_RESPONSE_FOR_PENDING');
});
