import { askUserQuestion, questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book } from '../support/travel-world.ts';
import { ask, dismissed, resultOf, single } from './asked.ts';
import { answer, askQuestions, database, features } from './seed-questions.ts';

describe('an interrupt', () => {
  test('S1-35, S1-37, S1-38: its result is the error Interrupted, and the model is not asked before the next message', async () => {
    const { request, agent, thread, world } = await askQuestions(database);
    const response = await agent.run(dismissed(request), thread);
    expect(response).toMatchObject({ status: 'cancelled', userInputRequests: [] });
    expect(resultOf(thread)).toEqual({ type: 'error-text', value: 'Interrupted' });
    expect(thread.status).toBe('idle');
    await agent.run([], thread);
    expect(world.requests()).toBe(1);
    expect(await agent.run('Then do nothing', thread)).toMatchObject({ status: 'completed' });
    expect(world.played.prompts[1]?.slice(2)).toMatchObject([
      { role: 'tool', content: [{ output: { type: 'error-text', value: 'Interrupted' } }] },
      { role: 'user' },
    ]);
  });

  test('S1-38: it leaves no run for a worker', async () => {
    const { request, agent, thread, world } = await askQuestions(database);
    await agent.respond(dismissed(request), thread);
    expect(await world.store.list({ dueBefore: Number.MAX_SAFE_INTEGER })).toEqual([]);
    expect(await world.store.list({ status: 'idle' })).toHaveLength(1);
  });

  test('S1-38: what else the step waits for is closed, an approval that was given and has not begun too', async () => {
    const { questions, agent, thread, world, response } = await ask({
      tools: { AskUserQuestion: askUserQuestion() },
      calls: [
        book('c1', 'Paris'),
        { id: 'q1', name: 'AskUserQuestion', input: { questions: [database] } },
        book('c2', 'Rome'),
        { id: 'q2', name: 'AskUserQuestion', input: { questions: [features] } },
      ],
    });
    const [approval] = response.approvalRequests;
    const [question] = questions;
    if (approval === undefined || question === undefined) throw new Error('Nothing is asked.');
    const ada = { principal: 'ada' };
    await agent.respond(approval.approve(), thread, ada);
    expect((await agent.run(dismissed(question), thread, ada)).status).toBe('cancelled');
    expect(thread.calls).toMatchObject([
      { status: 'denied', outcome: { reason: 'Interrupted' } },
      { status: 'failed', outcome: { error: 'Interrupted' } },
      { status: 'denied', outcome: { reason: 'Interrupted' } },
      { status: 'denied', outcome: { reason: 'Interrupted' } },
    ]);
    expect(thread.activeRequests).toEqual([]);
    expect(await errorCode(agent.run(approval.approve(), thread))).toBe('request-closed');
    expect(world.ran).toEqual([]);
    expect(world.requests()).toBe(1);
  });

  test('S1-38: it ends the turn also when an interaction of the same step was answered before', async () => {
    const { questions, agent, thread, world } = await ask({
      tools: questionTools(),
      calls: [
        { id: 'q1', name: 'ask_question', input: { question: 'Which one?' } },
        { id: 'q2', name: 'AskUserQuestion', input: { questions: [database] } },
      ],
    });
    const [typed, choice] = questions;
    if (typed === undefined || choice === undefined) throw new Error('Nothing is asked.');
    const { requestId } = typed;
    const answers = [{ key: 'answer', optionIds: [], text: 'this' }];
    await agent.run({ type: 'question-response', requestId, status: 'answered', answers }, thread);
    expect((await agent.run(dismissed(choice), thread)).status).toBe('cancelled');
    expect(world.requests()).toBe(1);
  });

  test('S1-38: only it is reported as cancelled: a model with an empty response has completed its turn', async () => {
    const { agent, thread, questions } = await ask({
      tools: { AskUserQuestion: askUserQuestion() },
      calls: [{ id: 'q1', name: 'AskUserQuestion', input: { questions: [database] } }],
      script: [{}],
    });
    const response = await agent.run(answer(single(questions), { Database: ['SQLite'] }), thread);
    expect(response).toMatchObject({ status: 'completed', text: '' });
  });

  test('S1-38: it may come with the next message, which is then processed', async () => {
    const { request, agent, thread, world } = await askQuestions(database);
    const response = await agent.run([dismissed(request), 'Do something else'], thread);
    expect(response).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(world.requests()).toBe(2);
  });
});
