import { MockLanguageModelV4 } from 'ai/test';
import { createUiHandler, toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { leaseMs, lostCalls } from '../support/lost-call.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { chatPage, comparable, lastText, toolParts } from './chat-page.ts';

const authorize = () => ({ principal: 'ann' });

test('a page that follows a run whose process dies in a call ends, and shows that nobody knows', async () => {
  const { agent: worker, clock } = await lostCalls(['t']);
  clock.now -= leaseMs;
  const { agent } = worker();
  const wait = async (): Promise<void> => void (clock.now += leaseMs);
  const handler = createUiHandler({ agent, authorize, wait });
  const messages = await toUIMessages(await agent.thread('t'));
  const page = chatPage(handler, { messages });
  await page.chat.resumeStream();
  expect(page.errors).toEqual([]);
  expect(page.chat.messages.at(-1)?.metadata).toMatchObject({ status: 'indeterminate' });
  expect(toolParts(page.chat.messages)).toMatchObject([
    { output: { status: 'indeterminate' }, preliminary: true },
  ]);
  const loaded = await toUIMessages(await agent.thread('t'));
  expect(comparable(page.chat.messages)).toEqual(comparable(loaded));
});

const reconcile = () => ({ status: 'succeeded' as const, output: { booked: 'Paris' } });

test('once the tool has said what came of the call, a page shows that', async () => {
  const { agent: worker } = await lostCalls(['t']);
  const { agent } = worker({ toolRecovery: { book: { reconcile } } });
  const handler = createUiHandler({ agent, authorize });
  const page = chatPage(handler, { messages: await toUIMessages(await agent.thread('t')) });
  await page.chat.sendMessage();
  await page.quiet();
  expect(toolParts(page.chat.messages)).toMatchObject([{ output: { booked: 'Paris' } }]);
  expect(lastText(page.chat.messages)).toBe('Done.');
});

/** A thread whose process died while it waited for the model. */
async function diedInStep() {
  const clock = { now: 1_000 };
  const timing = { leaseMs, now: () => clock.now };
  const world = memoryWorld([{ text: 'Hello.' }]);
  const asked = Promise.withResolvers<void>();
  const silent = new MockLanguageModelV4({
    async doGenerate() {
      asked.resolve();
      return new Promise<never>(() => {});
    },
  });
  const dying = world.agent({ ...timing, model: silent });
  void dying.run('Hi', await dying.thread('t'));
  await asked.promise;
  return { world, clock, agent: world.agent(timing) };
}

test('a page that follows a run which is recorded as gone ends as for one that failed, and may go on', async () => {
  const { agent, clock, world } = await diedInStep();
  const wait = async (): Promise<void> => {
    clock.now += leaseMs;
    /* A scheduler finds the run gone, and waits before it tries again. */
    const due = await agent.run([], await agent.thread('t'), { onlyWhenDue: true });
    expect(due.status).toBe('waiting');
  };
  const heard: unknown[] = [];
  const onError = (error: unknown): string => `Try again${heard.push(error) > 0 ? '.' : ''}`;
  const messages = await toUIMessages(await agent.thread('t'));
  const following = chatPage(createUiHandler({ agent, authorize, wait, onError }), { messages });
  await following.chat.resumeStream();
  expect(following.errors).toMatchObject([{ message: 'Try again.' }]);
  expect(heard).toMatchObject([{ message: expect.stringContaining('died or stalled') }]);
  const page = chatPage(createUiHandler({ agent, authorize }), { messages });
  await page.chat.sendMessage();
  await page.quiet();
  expect(lastText(page.chat.messages)).toBe('Hello.');
  expect(world.requests()).toBe(1);
});

test('a page that asks for the reply of a thread that is stuck runs it again', async () => {
  const world = memoryWorld([{ fail: 'overloaded' }, { calls: [book('c1', 'Paris')] }]);
  const agent = world.agent({ retry: { maxAttempts: 1 } });
  const page = chatPage(createUiHandler({ agent, authorize }));
  await page.chat.sendMessage({ text: 'Book' });
  expect(page.errors).toHaveLength(1);
  expect((await agent.thread('t')).status).toBe('stuck');
  await page.chat.regenerate();
  await page.quiet();
  expect(toolParts(page.chat.messages)).toMatchObject([{ state: 'approval-requested' }]);
  expect(page.chat.messages.at(-1)?.metadata).toMatchObject({ status: 'waiting' });
});
