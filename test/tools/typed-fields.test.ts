import {
  createAgent,
  type FieldSchema,
  memoryStore,
  type QuestionResponseContent,
} from 'holdpoint';
import { createCustomAgent, textQuestion } from 'holdpoint/custom-agent';
import { scriptedModel } from 'holdpoint/testing';
import { questionTool } from 'holdpoint/tools';
import { renderRequest } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** A question with one field that takes a text of this schema, asked by a call. */
async function ask(schema: FieldSchema | undefined, required?: boolean) {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'ask', input: {} }] },
    { text: 'Done.' },
  ]);
  const field = { key: 'amount', label: 'Amount', options: [], min: 0, max: 0 };
  const typed = {
    ...(schema === undefined ? {} : { schema }),
    ...(required === undefined ? {} : { required }),
  };
  const tool = questionTool({
    description: 'Asks.',
    inputSchema: z.object({}),
    toQuestion: () => ({
      kind: 'form',
      text: 'How much?',
      fields: [{ ...field, freeText: 'only', ...typed }],
      allowDismiss: true,
    }),
    toResult: (response) => ({ status: 'succeeded', output: JSON.stringify(response) }),
  });
  const agent = createAgent({ model, tools: { ask: tool }, store: memoryStore() });
  const { thread } = await agent.run('Ask', await agent.thread('t'));
  const [request] = thread.activeRequests;
  const answer = async (text: string | undefined): Promise<string> => {
    const given = { key: 'amount', optionIds: [], ...(text === undefined ? {} : { text }) };
    const response: QuestionResponseContent = {
      type: 'question-response',
      requestId: request?.requestId ?? '',
      status: 'answered',
      answers: [given],
    };
    try {
      await agent.respond(response, thread);
      return 'recorded';
    } catch (error) {
      return String(error);
    }
  };
  return { answer, request, thread };
}

const integer = { type: 'integer', minimum: 1, maximum: 10 } as const;

test.each<[FieldSchema, string]>([
  [integer, 'not a number'],
  [integer, '0'],
  [integer, '11'],
  [integer, '2.5'],
  [integer, ''],
  [integer, '0x5'],
  [integer, ' 5'],
  [{ type: 'integer' }, '9007199254740993'],
  [{ type: 'number' }, 'Infinity'],
  [{ type: 'number' }, '1e999'],
  [{ type: 'number', maximum: 2.5 }, '2.51'],
  [{ type: 'string', minLength: 2 }, 'a'],
  [{ type: 'string', maxLength: 2 }, 'abc'],
  [{ type: 'string', minLength: 2 }, '😀'],
  [{ type: 'string', format: 'email' }, 'ann'],
  [{ type: 'string', format: 'email' }, 'ann@host'],
  [{ type: 'string', format: 'uri' }, 'example.com'],
  [{ type: 'string', format: 'date' }, '2026-02-30'],
  [{ type: 'string', format: 'date' }, '28.02.2026'],
  [{ type: 'string', format: 'date-time' }, '2026-02-28T25:00:00Z'],
  [{ type: 'string', format: 'date-time' }, '2026-02-28T13:00:00'],
])('%o refuses %j, and the question stays open', async (schema, text) => {
  const { answer, thread } = await ask(schema);
  const { revision } = thread;
  const refusal = await answer(text);
  expect(refusal).toContain('field "amount" must be a');
  expect(refusal).toContain('The question stays open.');
  expect(thread.revision).toBe(revision);
  expect(thread.activeRequests).toHaveLength(1);
});

test.each<[FieldSchema, string]>([
  [integer, '10'],
  [{ type: 'number' }, '-2.5e1'],
  [{ type: 'string', maxLength: 1 }, '😀'],
  [{ type: 'string', format: 'email' }, 'ann.lee@mail.example.com'],
  [{ type: 'string', format: 'uri' }, 'https://example.com/a?b'],
  [{ type: 'string', format: 'date' }, '2028-02-29'],
  [{ type: 'string', format: 'date-time' }, '2026-02-28T13:00:00.5+01:00'],
])('%o takes %j', async (schema, text) => {
  const { answer } = await ask(schema);
  expect(await answer(text)).toBe('recorded');
});

test('a field that is not required may be left out, and any other may not', async () => {
  const optional = await ask(integer, false);
  expect(await optional.answer(undefined)).toBe('recorded');
  const needed = await ask(integer);
  expect(await needed.answer(undefined)).toContain('field "amount" needs text');
});

test.each<[FieldSchema, string]>([
  [{ type: 'integer', minimum: 2, maximum: 1 }, 'minimum above its maximum'],
  [{ type: 'string', minLength: 2, maxLength: 1 }, 'minLength above its maxLength'],
])('nobody is asked with %o', async (schema, reason) => {
  const { request, thread } = await ask(schema);
  expect(request).toBeUndefined();
  expect(JSON.stringify(thread.calls.concat()) + JSON.stringify(thread.messages)).toContain(reason);
});

test('a person reads what the field takes', async () => {
  const { request } = await ask({ ...integer, default: 3 }, false);
  if (request === undefined) throw new Error('Nobody was asked.');
  expect(renderRequest(request)).toContain('an integer from 1 to 10, optional, suggested: 3');
});

test('a custom agent asks for a text with a type', async () => {
  const agent = createCustomAgent({
    step: ({ stepNumber }) =>
      stepNumber === 0 ? { requests: { seats: textQuestion('Seats?', { schema: integer }) } } : {},
  });
  const { thread } = await agent.run('Book', await agent.thread('t'));
  const [question] = thread.activeRequests;
  if (question?.type !== 'question-request') throw new Error('Nobody was asked.');
  expect(() => question.answer('many')).toThrow('must be an integer from 1 to 10');
  expect(await agent.run(question.answer('7'), thread)).toMatchObject({ status: 'completed' });
});
