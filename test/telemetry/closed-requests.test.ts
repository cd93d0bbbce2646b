import { tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { askConfirmation } from 'holdpoint/tools';
import { book, cityInput, memoryWorld, travelTools } from '../support/travel-world.ts';
import { spanOf, traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';

tracingTests();

const calls = [book('c1', 'Paris')];
const script = [{ calls }, { text: 'Done.' }];
const minuteMs = 60_000;

/** Asks at 10 minutes, and gives what a person may do with the request, later. */
async function asked(options: { expiresAfterMs?: number } = {}) {
  const clock = { now: 10 * minuteMs };
  const world = memoryWorld(script);
  const agent = world.agent({
    now: () => clock.now,
    toolApproval: { book: () => ({ type: 'user-approval', reason: 'hunter2', ...options }) },
  });
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  clock.now += 5 * minuteMs;
  return { agent, thread, request, clock, world };
}

describe('an operator sees how long a request was open and how it closed,', () => {
  test.each([
    ['approved', true],
    ['rejected', false],
  ])('%s, by which channel, and who only when that is wanted', async (outcome, approved) => {
    for (const recordPrincipals of [false, true]) {
      const { spans, stop } = traced({ recordPrincipals });
      const { agent, thread, request } = await asked();
      const answer = approved ? request.approve() : request.reject('hunter2');
      await agent.run(answer, thread, { channel: 'web', principal: 'ann' });
      const wait = spanOf(spans(), 'approval_wait book');
      expect([wait.startedAt, wait.endedAt]).toEqual([10 * minuteMs, 15 * minuteMs]);
      expect(wait.attributes).toEqual({
        'gen_ai.conversation.id': 't',
        'gen_ai.tool.name': 'book',
        'gen_ai.tool.call.id': 'c1',
        'holdpoint.request.id': request.requestId,
        'holdpoint.outcome': outcome,
        'holdpoint.channel': 'web',
        ...(recordPrincipals ? { 'holdpoint.principal': '"ann"' } : {}),
      });
      expect(wait.parentSpanId).toBe(spanOf(spans(), 'approval_request book').spanId);
      expect(wait.links).toMatchObject([
        { spanId: spanOf(spans(), 'approval_decision book').spanId },
      ]);
      expect(JSON.stringify(spans())).not.toContain('hunter2');
      stop();
    }
  });

  test('answered or dismissed, when it was a question', async () => {
    const { spans } = traced();
    const questions = ['c1', 'c2'].map((id) => ({ id, name: 'confirm', input: { question: id } }));
    const agent = memoryWorld([{ calls: questions }, { text: 'Done.' }]).agent({
      tools: { confirm: askConfirmation() },
      toolApproval: {},
    });
    const { userInputRequests, thread } = await agent.run('Ask', await agent.thread('t'));
    await agent.run(
      userInputRequests.map(({ requestId }) => ({
        type: 'question-response',
        requestId,
        status: 'dismissed',
      })),
      thread,
    );
    const waits = spans().filter(({ name }) => name === 'question_wait confirm');
    expect(waits.map(({ attributes }) => attributes['holdpoint.outcome'])).toEqual([
      'dismissed',
      'dismissed',
    ]);
  });

  test('expired, in the trace of the run that asked and in that of the run that found it', async () => {
    const { spans } = traced();
    const { agent, thread } = await asked({ expiresAfterMs: minuteMs });
    await agent.run([], thread);
    expect(traces(spans().filter(({ name }) => !name.startsWith('chat')))).toEqual([
      ['invoke_agent', '  approval_request book', '    approval_wait book'],
      ['invoke_agent', '  approval_closed book'],
    ]);
    const closed = spanOf(spans(), 'approval_closed book');
    expect(closed).toMatchObject({
      status: 0,
      attributes: { 'holdpoint.outcome': 'expired', 'holdpoint.wait': 300 },
      links: [{ spanId: spanOf(spans(), 'approval_request book').spanId }],
    });
    const wait = spanOf(spans(), 'approval_wait book');
    expect(wait.attributes).toMatchObject({ 'holdpoint.outcome': 'expired' });
    expect(wait.endedAt).toBe(15 * minuteMs);
    expect(wait.links).toMatchObject([{ spanId: closed.spanId }]);
  });

  test('cancelled, with no run', async () => {
    const { spans } = traced();
    const { agent, thread } = await asked();
    await agent.cancel(thread, 'hunter2');
    expect(traces(spans()).slice(1)).toEqual([['approval_closed book']]);
    expect(spanOf(spans(), 'approval_wait book').attributes).toMatchObject({
      'holdpoint.outcome': 'cancelled',
    });
    expect(JSON.stringify(spans())).not.toContain('hunter2');
  });

  test('approved, and then not held to, as the tool had changed: linked to the approval, and asked again', async () => {
    const { spans } = traced();
    const { thread, request, world } = await asked();
    const changed = tool({
      description: 'book two flights',
      inputSchema: cityInput,
      execute: async () => 'x',
    });
    const other = world.agent({ tools: { ...travelTools([]), book: changed } });
    await other.run(request.approve(), await other.thread(thread.id));
    const closed = spanOf(spans(), 'approval_closed book');
    expect(closed.attributes).toMatchObject({
      'holdpoint.outcome': 'invalidated',
      'holdpoint.request.id': request.requestId,
    });
    expect(closed.links).toMatchObject([
      { spanId: spanOf(spans(), 'approval_decision book').spanId },
    ]);
    /* The wait was over with the approval, and what is asked again waits still. */
    expect(spanOf(spans(), 'approval_wait book').attributes).toMatchObject({
      'holdpoint.outcome': 'approved',
    });
    expect(spans().filter(({ name }) => name === 'approval_request book')).toHaveLength(2);
  });

  test('also if nothing was traced when it was asked: as a separate trace, linked to the answer', async () => {
    const { agent, thread, request } = await asked();
    const { spans } = traced();
    await agent.respond(request.approve(), thread);
    expect(traces(spans())).toEqual([['approval_wait book'], ['approval_decision book']]);
    expect(spanOf(spans(), 'approval_wait book').links).toMatchObject([
      { spanId: spanOf(spans(), 'approval_decision book').spanId },
    ]);
  });

  test('and nothing of it while it is open, or when the store did not take the answer', async () => {
    const { spans } = traced();
    const { agent, thread, request, world } = await asked();
    world.store.append = async () => Promise.reject(new Error('disk full'));
    await expect(agent.respond(request.approve(), thread)).rejects.toThrow('disk full');
    expect(spans().map(({ name }) => name)).not.toContain('approval_wait book');
    expect(spanOf(spans(), 'approval_decision book').status).toBe(2);
  });
});
