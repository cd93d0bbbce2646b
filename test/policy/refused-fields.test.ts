import { jsonSchema, tool, type Tool } from 'ai';
import { approve, createAgent, HoldpointError, type QuestionResponseContent } from 'holdpoint';
import { questionTools } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { requestIn, desk } from '../tools/payment-desk.ts';
import { post } from '../ui/chat-page.ts';
import { pickCases } from '../support/sampling.ts';

const secret = 'hunter2-4111111111111111';
const city = { city: 'Paris' };
const order = { to: city, price: 900 };

const inZod = tool({
  inputSchema: z.strictObject({
    to: z.strictObject({ city: z.string() }),
    price: z.number().max(999),
  }),
  execute: () => 'Paid.',
});
const inJsonSchema = tool({
  inputSchema: jsonSchema<typeof order>({
    type: 'object',
    properties: {
      to: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      price: { type: 'number', maximum: 999 },
    },
    required: ['to', 'price'],
  }),
  execute: () => 'Paid.',
});

const callPay = (id: string) => ({ id, name: 'pay', input: order });

/** An agent that asks before it pays; two calls, so that two answers can be refused. */
async function asked(pay: Tool, terms: object = { editable: true }) {
  const agent = createAgent({
    model: scriptedModel([{ calls: [callPay('c1'), callPay('c2')] }, { text: 'Paid.' }]).model,
    tools: { pay },
    toolApproval: { pay: { type: 'user-approval', ...terms } },
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Pay.', thread);
  return { agent, thread, requests: approvalRequests };
}

/** The error with which an answer is refused. */
async function refusal(promise: Promise<unknown>): Promise<HoldpointError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!HoldpointError.isInstance(error)) throw error;
  return error;
}

describe('an edit that is refused names the field and the reason, and repeats nothing of it', () => {
  const edits: [string, Tool, object, unknown, string[] | undefined, RegExp][] = [
    ['text for a number', inZod, {}, { ...order, price: secret }, ['price'], /expected number/],
    ['text for a number', inJsonSchema, {}, { ...order, price: secret }, ['price'], /"number"/],
    ['a number too large', inZod, {}, { ...order, price: 4111 }, ['price'], /<=999/],
    ['a number too large', inJsonSchema, {}, { ...order, price: 4111 }, ['price'], /^is greater/],
    ['an inner field', inZod, {}, { ...order, to: { city: 4111 } }, ['to', 'city'], /string/],
    [
      'an inner field',
      inJsonSchema,
      {},
      { ...order, to: { city: 4111 } },
      ['to', 'city'],
      /string/,
    ],
    ['a missing field', inZod, {}, { to: city }, ['price'], /expected number/],
    ['a missing field', inJsonSchema, {}, { to: city }, ['price'], /^is missing$/],
    ['the whole input', inZod, {}, secret, undefined, /expected object/],
    ['the whole input', inJsonSchema, {}, secret, undefined, /"object"/],
    [
      'a field that is fixed',
      inZod,
      { editable: ['price'] },
      { ...order, to: { city: secret } },
      ['to'],
      /editable fields are price/,
    ],
    [
      'an input that is fixed',
      inZod,
      { editable: undefined },
      { ...order, price: 4111 },
      undefined,
      /doesn't mark it as editable/,
    ],
  ];

  test.each(pickCases(edits, 3))('%s', async (_name, pay, terms, input, field, why) => {
    const { agent, thread, requests } = await asked(pay, { editable: true, ...terms });
    const answers = requests.map((request) => ({ ...approve(request), input }));
    const { revision } = thread;
    for (const refused of [
      await refusal(agent.respond(answers.slice(0, 1), thread)),
      await refusal(agent.run(answers.slice(0, 1), thread)),
    ]) {
      expect(refused).toMatchObject({
        code: 'invalid-answer',
        requestId: requests[0]?.requestId,
        reason: expect.stringMatching(why),
      });
      expect(refused.field).toEqual(field);
      expect(refused.reason).not.toMatch(/hunter2|4111/);
    }
    expect(thread.revision).toBe(revision);
    const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
    const response = await handler(post({ id: 't', answers }));
    expect(response.status).toBe(400);
    const { refusedAnswers } = z
      .object({ refusedAnswers: z.array(z.looseObject({ field: z.unknown().optional() })) })
      .parse(await response.json());
    expect(refusedAnswers).toMatchObject(
      requests.map(({ requestId }) => ({ requestId, reason: expect.stringMatching(why) })),
    );
    expect(refusedAnswers.map((refused) => refused.field)).toEqual([field, field]);
  });

  test('also one of a sub-agent’s call', async () => {
    const at = await desk({}, { type: 'user-approval', editable: true });
    const answer = { ...approve(requestIn(at.thread)), input: { euros: 'many' } };
    expect(await refusal(at.clerk.respond(answer, at.thread, { principal: 'Ada' }))).toMatchObject({
      code: 'invalid-answer',
      field: ['euros'],
      reason: expect.stringContaining('number'),
    });
  });

  test('an approval without the reason that it needs says so, and names no field', async () => {
    const { agent, thread, requests } = await asked(inZod, { requireReason: true });
    const { field, reason } = await refusal(
      agent.run(
        requests.map((each) => each.approve()),
        thread,
      ),
    );
    expect({ field, reason }).toEqual({ field: undefined, reason: 'an approval needs a reason' });
  });
});

describe('an answer that does not fit its question names the field and the reason', () => {
  const answers: [
    string,
    QuestionResponseContent['status'],
    object[],
    string[] | undefined,
    string,
  ][] = [
    [
      'an unknown option',
      'answered',
      [{ key: 'choice', optionIds: [secret] }],
      ['choice'],
      'has no such option',
    ],
    [
      'an unknown field',
      'answered',
      [
        { key: 'choice', optionIds: [] },
        { key: 'x', optionIds: [] },
      ],
      ['x'],
      'is not in the question',
    ],
    ['no answer', 'answered', [], ['choice'], 'is not answered'],
  ];

  test.each(pickCases(answers, 3))('%s', async (_name, status, given, field, reason) => {
    const input = { question: 'Which?', options: '["A", "B"]' };
    const agent = createAgent({
      model: scriptedModel([{ calls: [{ id: 'q1', name: 'user_choice', input }] }]).model,
      tools: questionTools(),
    });
    const thread = await agent.thread('t');
    const { userInputRequests } = await agent.run('Ask.', thread);
    const [request] = userInputRequests;
    if (request?.type !== 'question-request') throw new Error('It asked nothing.');
    const named = JSON.parse(
      JSON.stringify(given).replaceAll('choice', request.fields[0]?.key ?? ''),
    );
    const answer = {
      type: 'question-response',
      requestId: request.requestId,
      status,
      answers: named,
    };
    const refused = await refusal(agent.run(JSON.parse(JSON.stringify(answer)), thread));
    const key = field?.map((name) => (name === 'choice' ? request.fields[0]?.key : name));
    expect(refused).toMatchObject({ code: 'invalid-answer', reason });
    expect(refused.field).toEqual(key);
    expect(refused.message).not.toContain(secret);
  });
});
