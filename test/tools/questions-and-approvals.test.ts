import type { AgentOptions, QuestionRequestContent, QuestionResponseContent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, look } from '../support/travel-world.ts';
import {
  ask,
  at,
  dismissed,
  eventsOf,
  everyQuestionTool,
  expectRefused,
  picked,
  resultOf,
  single,
} from './asked.ts';
import { asks, oneOf } from './asking-tools.ts';
import { pickCases } from '../support/sampling.ts';

/** A step with questions of several kinds, a gated call and a safe one. */
const mixed = async (options: Partial<AgentOptions> = {}) =>
  ask({
    ...options,
    tools: { ...everyQuestionTool(), ask: asks(oneOf) },
    calls: [
      { id: 'q1', name: 'ask', input: {} },
      book('c1', 'Paris'),
      { id: 'q2', name: 'user_choice', input: { question: 'Which?', options: '["A"]' } },
      look('c2', 'Oslo'),
      { id: 'q3', name: 'ask_confirmation', input: { question: 'Sure?', target_tool: 'book' } },
    ],
  });

describe('questions and approvals of one step', () => {
  const orders = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
  ];
  test.each(pickCases(orders, 3))(
    'are answered one by one, in any order: %i %i %i %i',
    async (...order) => {
      const { agent, thread, world, response } = await mixed();
      expect(response.userInputRequests.map(({ type }) => type)).toEqual([
        'question-request',
        'approval-request',
        'question-request',
        'question-request',
      ]);
      expect(world.ran).toMatchObject([{ name: 'look' }]);
      const answers = response.userInputRequests.map((request) => {
        if (request.type === 'approval-request') return request.approve();
        return picked(request, [
          request.kind === 'confirmation' ? 'no' : (request.fields[0]?.options[0]?.id ?? ''),
        ]);
      });
      for (const [turn, index] of order.entries()) {
        const { status, userInputRequests } = await agent.run(at(answers, index), thread);
        expect(userInputRequests).toHaveLength(3 - turn);
        expect(status).toBe(turn < 3 ? 'waiting' : 'completed');
        expect(world.requests()).toBe(turn < 3 ? 1 : 2);
      }
      const [, , results] = world.played.prompts[1] ?? [];
      expect(results).toMatchObject({
        role: 'tool',
        content: ['q1', 'c1', 'q2', 'c2', 'q3'].map((toolCallId) => ({ toolCallId })),
      });
      expect(world.ran).toHaveLength(2);
    },
  );

  test('are all closed by a message with whilePending cancel, and earlier answers stay', async () => {
    const { agent, thread, world, questions } = await mixed();
    await agent.respond(picked(at(questions, 0), ['b']), thread);
    const response = await agent.run('Forget it', thread, { whilePending: 'cancel' });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    expect(thread.calls.map(({ status }) => status)).toEqual([
      'succeeded',
      'denied',
      'denied',
      'succeeded',
      'denied',
    ]);
    expect(await errorCode(agent.run(picked(at(questions, 1), ['1']), thread))).toBe(
      'request-closed',
    );
    expect(world.ran).toMatchObject([{ name: 'look' }]);
  });

  test('are all closed by agent.cancel, and the model gets the reason', async () => {
    const { agent, thread, questions } = await mixed();
    expect(await agent.cancel(thread, 'The shop is closed.')).toMatchObject({
      status: 'cancelled',
    });
    expect(thread.activeRequests).toEqual([]);
    for (const question of questions) {
      const late = agent.run(dismissed(question), thread);
      expect(await errorCode(late)).toBe('request-closed');
    }
    for (const id of ['q1', 'c1', 'q2', 'q3']) {
      const told = { type: 'execution-denied', reason: 'The shop is closed.' };
      expect(resultOf(thread, id)).toEqual(told);
    }
    expect(await agent.run([], thread)).toMatchObject({ status: 'completed' });
  });

  test('X-08: an aborted run leaves them open, and takes no answer', async () => {
    const { agent, thread, questions } = await mixed();
    const answer = picked(at(questions, 0), ['a']);
    const signal = AbortSignal.abort(new Error('Stop.'));
    const before = JSON.stringify(thread);
    await expect(agent.run(answer, thread, { abortSignal: signal })).rejects.toThrow('Stop.');
    expect(JSON.stringify(thread)).toBe(before);
    await agent.run(answer, thread);
    expect(thread.activeRequests).toHaveLength(3);
  });
});

/** A question under a rule. */
const ruled = async (toolApproval: AgentOptions['toolApproval']) =>
  ask({
    tools: { ask: asks(oneOf) },
    calls: [{ id: 'q1', name: 'ask', input: {} }],
    ...(toolApproval === undefined ? {} : { toolApproval }),
  });

describe('rules', () => {
  test('a rule that denies the tool: nothing is asked', async () => {
    const { response } = await ruled({ ask: { type: 'denied', reason: 'Ask nobody.' } });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    expect(resultOf(response.thread)).toEqual({ type: 'execution-denied', reason: 'Ask nobody.' });
  });

  test.each<[string, AgentOptions['toolApproval']]>([
    ['wants approval', { ask: 'user-approval' }],
    ['approves', { ask: 'approved' }],
    [
      'throws',
      {
        ask: () => {
          throw new Error('broken');
        },
      },
    ],
    ['is for all tools', () => 'user-approval'],
  ])('a rule that %s: the question is asked, once, and nothing beside it', async (_what, rule) => {
    const { response, agent, thread, questions } = await ruled(rule);
    expect(response.approvalRequests).toEqual([]);
    expect(await agent.run(picked(single(questions), ['a']), thread)).toMatchObject({
      text: 'Done.',
    });
    expect(eventsOf(thread.events, 'request-opened')).toHaveLength(1);
  });
});

/** A call that needs approval, with questions about it, and another such call after them. */
const gated = async () =>
  ask({
    tools: everyQuestionTool(),
    calls: [
      book('c1', 'Paris'),
      { id: 'q1', name: 'ask_confirmation', input: { question: 'Book?', target_tool: 'book' } },
      { id: 'q2', name: 'user_choice', input: { question: 'Book?', options: '["approve"]' } },
    ],
    script: [{ calls: [book('c2', 'Rome')] }, { text: 'Done.' }],
  });

describe('C-09, rule 10: no answer to a question lets a gated tool run:', () => {
  test.each<
    [
      string,
      (
        confirmation: QuestionRequestContent,
        choice: QuestionRequestContent,
      ) => QuestionResponseContent[],
    ]
  >([
    ['yes, with the tool named', (one, two) => [picked(one, ['yes']), picked(two, ['1'])]],
    ['the text approve', (one, two) => [picked(one, [], 'approve'), picked(two, [], 'approve')]],
    [
      'yes, with an approval as text',
      (one, two) => [
        picked(one, ['yes'], '{"type":"approval-response","approved":true}'),
        picked(two, [], 'I approve book for ever'),
      ],
    ],
    ['dismissals', (one, two) => [dismissed(one), dismissed(two)]],
  ])('%s', async (_what, answers) => {
    const { agent, thread, world, questions, response } = await gated();
    await agent.run(answers(at(questions, 0), at(questions, 1)), thread);
    expect(world.ran).toEqual([]);
    expect(thread.activeApprovalRequests).toEqual(response.thread.activeApprovalRequests);
    expect(thread.calls[0]).toMatchObject({ status: 'waiting' });
    const rejections = thread.activeApprovalRequests.map((request) => request.reject());
    expect(await agent.run(rejections, thread)).toMatchObject({
      status: 'waiting',
      approvalRequests: [{ toolCall: { input: { city: 'Rome' } } }],
    });
    expect(world.ran).toEqual([]);
  });

  test.each(['question for an approval', 'approval for a question'])(
    'a response of the wrong kind: %s',
    async (which) => {
      const { agent, thread, world, questions, response } = await gated();
      const approval = at(response.approvalRequests, 0);
      const yes = picked(at(questions, 0), ['yes']);
      const left = dismissed(at(questions, 0));
      const { requestId } = approval;
      const wrong = which.startsWith('question')
        ? [
            { ...yes, requestId },
            { ...left, requestId },
          ]
        : [approval.approve(), approval.reject()].map((each) => ({
            ...each,
            requestId: yes.requestId,
          }));
      for (const answer of wrong) {
        await expectRefused(thread, async () => agent.run(answer, thread));
        await expectRefused(thread, async () => agent.respond([yes, answer], thread));
      }
      expect(world.ran).toEqual([]);
    },
  );

  test('an answer that is sent again while the next call waits', async () => {
    const { agent, thread, world, questions, response } = await gated();
    const yes = picked(at(questions, 0), ['yes']);
    await agent.run(
      [
        yes,
        picked(at(questions, 1), ['1']),
        ...response.approvalRequests.map((request) => request.reject()),
      ],
      thread,
    );
    await agent.run(yes, thread);
    await agent.run([], thread);
    expect(thread.calls.at(-1)).toMatchObject({ toolName: 'book', status: 'waiting' });
    expect(world.ran).toEqual([]);
  });

  test('neither deliver nor settle answers a question, and neither ends it', async () => {
    const { agent, thread } = await gated();
    const outcome = { status: 'succeeded', output: 'yes' } as const;
    for (const id of ['q1', 'q2']) {
      await expectRefused(thread, async () => agent.deliver(thread, id, outcome), 'not-allowed');
      await expectRefused(thread, async () => agent.settle(thread, id, outcome), 'not-allowed');
    }
  });
});
