import { tool } from 'ai';
import type { QuestionRequestContent } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedCall } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput, look, travelTools, travelWorld } from '../support/travel-world.ts';
import { askOne, dismissed, eventsOf, expectRefused, picked, resultOf } from './asked.ts';
import { asks, keptOn, oneOf } from './asking-tools.ts';

/** A question that can be answered until 1,500. */
const timed = async () => {
  const clock = { now: 1_000 };
  const asked = await askOne(asks({ ...oneOf, expiresAfterMs: 500 }), {}, { now: () => clock.now });
  return { clock, ...asked };
};

describe('expiry', () => {
  test('until the last millisecond a question can be answered', async () => {
    const { clock, request, agent, thread } = await timed();
    expect(request).toMatchObject({ createdAt: 1_000, expiresAt: 1_500 });
    clock.now = 1_499;
    expect(await agent.run(picked(request, ['a']), thread)).toMatchObject({ status: 'completed' });
  });

  test('after its expiry it is closed, can’t be dismissed, and the model gets an error', async () => {
    const { clock, request, agent, thread, world } = await timed();
    expect(await world.store.list({ dueBefore: 1_501 })).toHaveLength(1);
    clock.now = 1_500;
    for (const answer of [picked(request, ['a']), dismissed(request)]) {
      await expectRefused(thread, async () => agent.run(answer, thread), 'request-closed');
    }
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(thread.calls).toMatchObject([
      { status: 'denied', outcome: { reason: 'The question expired unanswered.' } },
    ]);
    expect(eventsOf(thread.events, 'request-closed')).toMatchObject([{ cause: 'expired' }]);
  });

  test('an answer given in time stays when the thread resumes after the expiry', async () => {
    const { clock, request, agent, thread } = await timed();
    await agent.respond(picked(request, ['a']), thread);
    clock.now = 9_999;
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
    expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
  });
});

const option = (label: string) => ({ label, description: '' });

describe('a question that is answered while a call of its step is still running', () => {
  const choice = { id: 'q1', name: 'user_choice', input: { question: 'Which?', options: '["A"]' } };

  async function running(asking: ScriptedCall = choice) {
    const gate = Promise.withResolvers<string>();
    const played = scriptedModel([{ calls: [look('c1', 'Oslo'), asking] }, { text: 'Done.' }]);
    const kept = keptOn('memoryStore');
    const world = travelWorld(played, () => kept.open());
    const slow = tool({
      description: 'look',
      inputSchema: cityInput,
      execute: async () => gate.promise,
    });
    const tools = { ...travelTools(world.ran), look: slow, ...questionTools() };
    const agent = world.agent({ tools });
    const opened = Promise.withResolvers<QuestionRequestContent>();
    agent.on('request-opened', ({ event: { request } }) => {
      if (request.type === 'question-request') opened.resolve(request);
    });
    const run = agent.run('Go', await agent.thread('t'));
    const elsewhere = world.agent({ tools });
    const thread = await elsewhere.thread('t');
    return { gate, played, run, request: await opened.promise, elsewhere, thread };
  }

  test('the answer is recorded, and the current run continues with it', async () => {
    const { gate, played, run, request, elsewhere, thread } = await running();
    expect(await elsewhere.run(picked(request, ['1']), thread)).toMatchObject({
      status: 'running',
    });
    expect(played.requests).toBe(1);
    gate.resolve('snow');
    expect(await run).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(played.requests).toBe(2);
    const { thread: seen } = await elsewhere.run([], thread);
    expect([resultOf(seen, 'c1'), resultOf(seen, 'q1')]).toMatchObject([
      { value: 'snow' },
      { value: 'A' },
    ]);
  });

  test('an answer after the call has ended is continued automatically', async () => {
    const { gate, run, request, elsewhere, thread } = await running();
    gate.resolve('snow');
    expect(await run).toMatchObject({ status: 'waiting' });
    expect(await elsewhere.run(picked(request, ['1']), thread)).toMatchObject({ text: 'Done.' });
  });

  test('a message meanwhile is refused, also where it would cancel', async () => {
    const { gate, run, elsewhere, thread } = await running();
    const options = { whilePending: 'cancel' } as const;
    expect(await errorCode(elsewhere.run('Hello?', thread, options))).toBe('thread-busy');
    gate.resolve('snow');
    expect(await run).toMatchObject({ status: 'waiting' });
  });

  test('an interrupt waits for the result of the call, and then ends the turn', async () => {
    const questions = [{ question: 'Which?', header: 'H', options: [option('A'), option('B')] }];
    const { gate, played, run, request, elsewhere, thread } = await running({
      id: 'q1',
      name: 'AskUserQuestion',
      input: { questions },
    });
    await elsewhere.respond(dismissed(request), thread);
    gate.resolve('snow');
    const response = await run;
    expect(response).toMatchObject({ status: 'cancelled', userInputRequests: [] });
    expect(response.thread.calls).toMatchObject([
      { status: 'succeeded' },
      { outcome: { error: 'Interrupted' } },
    ]);
    expect(played.requests).toBe(1);
  });
});
