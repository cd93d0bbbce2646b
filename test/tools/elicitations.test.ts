import { type Agent, type AgentThread, type QuestionResponseContent } from 'holdpoint';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { eras, type Form, makeElicitedAgent } from './eliciting-server.ts';

const form: Form = {
  message: 'What shall I book?',
  requestedSchema: {
    type: 'object',
    properties: {
      seats: { type: 'integer', title: 'Seats', minimum: 1, maximum: 10 },
      price: { type: 'number', default: 9.5 },
      mail: { type: 'string', format: 'email' },
      window: { type: 'boolean', default: true },
      class: { type: 'string', enum: ['1', '2'], enumNames: ['First', 'Second'] },
      meals: {
        type: 'array',
        items: {
          anyOf: [
            { const: 'v', title: 'Vegan' },
            { const: 'm', title: 'Meat' },
          ],
        },
      },
      note: { type: 'string' },
    },
    required: ['seats', 'mail', 'window'],
  },
};

/** Waits for the open question of a thread. */
async function awaitQuestion(agent: Agent, id = 't') {
  const read = async (): Promise<AgentThread> => agent.thread(id);
  await expect.poll(async () => (await read()).activeRequests.length).toBe(1);
  const thread = await read();
  const [question] = thread.activeRequests;
  if (question?.type !== 'question-request') throw new Error('No question is open.');
  return { thread, question };
}

function answerWith(requestId: string, answers: Record<string, string[] | string>) {
  return {
    type: 'question-response',
    requestId,
    status: 'answered',
    answers: Object.entries(answers).map(([key, given]) =>
      typeof given === 'string' ? { key, optionIds: [], text: given } : { key, optionIds: given },
    ),
  } satisfies QuestionResponseContent;
}

const empty = { price: [], class: [], meals: [], note: [] };

const resultSchema = z.object({ content: z.array(z.object({ text: z.string() })) });

function readOutput(thread: AgentThread): unknown {
  const outcome = thread.calls[0]?.outcome;
  if (outcome?.status !== 'succeeded') return outcome;
  const [part] = resultSchema.parse(outcome.output).content;
  return JSON.parse(part?.text ?? 'null');
}

test.each(Object.entries(eras))(
  'a server of %s asks during its call, and gets the answer with its types',
  async (_era, connect) => {
    const agent = await makeElicitedAgent(connect, form);
    const running = agent.run('Book', await agent.thread('t'));
    const { thread, question } = await awaitQuestion(agent);
    expect(thread.calls).toMatchObject([{ status: 'started' }]);
    expect(question).toMatchObject({
      text: 'The MCP server desk asks: What shall I book?',
      toolCall: { toolName: 'book' },
    });
    const { requestId } = question;
    const given = { ...empty, reply: ['accept'], mail: 'ann@example.com', window: ['false'] };
    const wrong = answerWith(requestId, { ...given, seats: 'not a number' });
    expect(await errorCode(agent.respond(wrong, thread))).toBe('invalid-answer');
    await expect(agent.respond(wrong, thread)).rejects.toThrow(
      'field "seats" must be an integer from 1 to 10',
    );
    await agent.respond(
      answerWith(requestId, { ...given, seats: '3', price: '2.50', meals: ['v'] }),
      thread,
    );
    const { thread: after } = await running;
    expect(readOutput(after)).toMatchObject({
      action: 'accept',
      content: { seats: 3, price: 2.5, mail: 'ann@example.com', window: false, meals: ['v'] },
    });
  },
);

test.each(Object.entries(eras))(
  'declining and dismissing are two answers to a server of %s',
  async (_era, connect) => {
    for (const [action, id] of [
      ['decline', 'd'],
      ['cancel', 'c'],
    ] as const) {
      const agent = await makeElicitedAgent(connect, form);
      const running = agent.run('Book', await agent.thread(id));
      const { thread, question } = await awaitQuestion(agent, id);
      await agent.respond(
        action === 'decline'
          ? answerWith(question.requestId, { reply: ['decline'] })
          : { type: 'question-response', requestId: question.requestId, status: 'dismissed' },
        thread,
      );
      const output = readOutput((await running).thread);
      expect(output).toMatchObject({ action });
      expect(output).not.toHaveProperty('content');
    }
  },
);

test('one call of a client runs at a time, so that each question belongs to the call that asks', async () => {
  const agent = await makeElicitedAgent(eras['an older protocol'], form, { calls: 2 });
  const running = agent.run('Book', await agent.thread('t'));
  const asked: unknown[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const { thread, question } = await awaitQuestion(agent);
    asked.push(question.toolCall?.toolCallId);
    await agent.respond(answerWith(question.requestId, { reply: ['decline'] }), thread);
    await expect
      .poll(async () => (await agent.thread('t')).activeRequests[0]?.requestId)
      .not.toBe(question.requestId);
  }
  await running;
  expect(asked).toEqual(['c1', 'c2']);
});

test('a question that is closed while the call runs is cancelled for the server', async () => {
  const agent = await makeElicitedAgent(eras['an older protocol'], form);
  const running = agent.run('Book', await agent.thread('t'));
  const { thread } = await awaitQuestion(agent);
  await agent.cancel(thread, 'Not now.');
  const { thread: after } = await running;
  expect(readOutput(after)).toMatchObject({ action: 'cancel' });
});

test('a run that is stopped ends the wait, and closes the question with the call', async () => {
  const agent = await makeElicitedAgent(eras['protocol 2026-07-28'], form);
  const running = agent.run('Book', await agent.thread('t'));
  const { thread } = await awaitQuestion(agent);
  await agent.stop(thread);
  expect(await running).toMatchObject({ status: 'cancelled' });
  const after = await agent.thread('t');
  expect(after.activeRequests).toEqual([]);
  expect(after.calls).toMatchObject([{ status: 'failed' }]);
});

const many = Array.from({ length: 21 }, (_each, index) => [`p${index}`, { type: 'boolean' }]);

test.each<[what: string, properties: Record<string, unknown>, named: string]>([
  ['nested properties', { address: { type: 'object', properties: {} } }, 'address'],
  ['an unknown type', { address: { type: 'null' } }, 'address'],
  ['a format for secrets', { key: { type: 'string', format: 'password' } }, 'key'],
  ['a keyword that forms lack', { count: { type: 'integer', multipleOf: 5 } }, 'count'],
  ['lists of texts', { names: { type: 'array', items: { type: 'string' } } }, 'names'],
  ['limits the wrong way round', { code: { type: 'string', minLength: 2, maxLength: 1 } }, 'code'],
  ['too many properties', Object.fromEntries(many), '20 properties'],
])('%s are refused, and the server is told why', async (_what, properties, named) => {
  const nested = z.custom<Form>().parse({
    message: 'Where?',
    requestedSchema: { type: 'object', properties },
  });
  const agent = await makeElicitedAgent(eras['an older protocol'], nested);
  const { thread } = await agent.run('Book', await agent.thread('t'));
  const refusal = JSON.stringify(readOutput(thread));
  expect(refusal).toContain('refused');
  expect(refusal).toContain(named);
  expect(thread.events.some(({ type }) => type === 'request-opened')).toBe(false);
});

test('a pattern is shown, and checked by the server alone; beside a format it is not shown', async () => {
  const asked = z.custom<Form>().parse({
    message: 'Which?',
    requestedSchema: {
      type: 'object',
      properties: {
        code: { type: 'string', title: 'Code', pattern: '^(a+)+$' },
        mail: { type: 'string', title: 'Mail', format: 'email', pattern: '(?=a)a' },
      },
    },
  });
  const agent = await makeElicitedAgent(eras['protocol 2026-07-28'], asked);
  const running = agent.run('Book', await agent.thread('t'));
  const { thread, question } = await awaitQuestion(agent);
  const typed = question.fields.filter(({ schema }) => schema !== undefined);
  expect(typed.map(({ label, schema }) => [label, schema])).toEqual([
    ['Code (must match ^(a+)+$)', { type: 'string' }],
    ['Mail', { type: 'string', format: 'email' }],
  ]);
  const code = `${'a'.repeat(40)}!`;
  const given = { reply: ['accept'], code, mail: 'ann@example.com' };
  await agent.respond(answerWith(question.requestId, given), thread);
  expect(readOutput((await running).thread)).toMatchObject({ content: { code } });
});

test('what a server suggests is shown, and is no answer', async () => {
  const agent = await makeElicitedAgent(eras['an older protocol'], form);
  const running = agent.run('Book', await agent.thread('t'));
  const { thread, question } = await awaitQuestion(agent);
  const window = question.fields.find(({ key }) => key === 'window');
  expect(window).toMatchObject({ preselected: ['true'], min: 1 });
  expect(question.fields[0]).not.toHaveProperty('preselected');
  const given = { ...empty, reply: ['accept'], mail: 'ann@example.com', seats: '3' };
  const unanswered = answerWith(question.requestId, { ...given, window: [] });
  await expect(agent.respond(unanswered, thread)).rejects.toThrow('field "window" needs');
  await agent.respond(answerWith(question.requestId, { ...given, window: ['true'] }), thread);
  const output = readOutput((await running).thread);
  expect(output).toMatchObject({ content: { seats: 3, mail: 'ann@example.com', window: true } });
  expect(output).not.toHaveProperty('content.price');
});

const inAnHour = () => Date.now() + 3_600_000;

test('after a crash the outcome of the call is unknown, and its question is closed', async () => {
  const dying = await makeElicitedAgent(eras['an older protocol'], form);
  const running = dying.run('Book', await dying.thread('t'));
  const { thread: left, question } = await awaitQuestion(dying);
  const log: unknown = JSON.parse(JSON.stringify(left));
  const agent = await makeElicitedAgent(eras['an older protocol'], form, { now: inAnHour });
  const thread = await agent.restore(log);
  const opened = await agent.thread('t');
  expect(opened.activeRequests).toEqual([]);
  expect(await agent.run([], thread)).toMatchObject({ status: 'indeterminate' });
  expect(thread.calls).toMatchObject([{ status: 'indeterminate' }]);
  const late = answerWith(question.requestId, { reply: ['decline'] });
  expect(await errorCode(agent.respond(late, thread))).toBe('request-closed');
  await dying.respond(late, left);
  await running;
});
