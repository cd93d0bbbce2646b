import { type JSONValue, tool } from 'ai';
import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  createAgent,
  type Grant,
  type Question,
  type QuestionRequestContent,
  type QuestionResponseContent,
  type ToolCall,
  type ToolCallRecord,
} from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import {
  approvalRequestSchema,
  approvalResponseSchema,
  questionRequestSchema,
  questionResponseSchema,
  toolCallRecordSchema,
} from 'holdpoint/schemas';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { grantSchema } from '../src/content/grant.ts';
import { toolCallSchema } from '../src/content/tool-call.ts';

test('a question is a request like an approval: several fields, options, free text by policy, dismissal apart', () => {
  const question = {
    type: 'question-request',
    kind: 'form',
    requestId: 'r',
    threadId: 't',
    text: 'Which flight?',
    fields: [
      {
        key: 'flight',
        label: 'Flight',
        options: [
          { id: 'a', label: 'Early' },
          { id: 'b', label: 'Late', description: 'with a stop' },
        ],
        min: 1,
        max: 1,
        preselected: ['a'],
        freeText: 'optional',
      },
    ],
    allowDismiss: true,
    dismissAnswer: [{ key: 'flight', optionIds: ['b'] }],
    createdAt: 1,
  };
  expect(questionRequestSchema.parse(question)).toEqual(question);
  const answered = {
    type: 'question-response',
    requestId: 'r',
    status: 'answered',
    answers: [{ key: 'flight', optionIds: ['a'] }],
  };
  expect(questionResponseSchema.parse(answered)).toEqual(answered);
  expect(questionResponseSchema.safeParse({ ...answered, approved: true }).success).toBe(false);
});

test('the types of what is asked and answered are those of its schemas', () => {
  expectTypeOf<ApprovalRequest>().toEqualTypeOf<z.infer<typeof approvalRequestSchema>>();
  expectTypeOf<ApprovalResponseContent>().toEqualTypeOf<z.infer<typeof approvalResponseSchema>>();
  expectTypeOf<QuestionRequestContent>().toEqualTypeOf<z.infer<typeof questionRequestSchema>>();
  expectTypeOf<QuestionResponseContent>().toEqualTypeOf<z.infer<typeof questionResponseSchema>>();
  expectTypeOf<ToolCall>().toEqualTypeOf<z.infer<typeof toolCallSchema>>();
  expectTypeOf<keyof ToolCallRecord>().toEqualTypeOf<keyof z.infer<typeof toolCallRecordSchema>>();
  expectTypeOf<ToolCallRecord>().toExtend<z.infer<typeof toolCallRecordSchema>>();
  expectTypeOf<Grant>().toEqualTypeOf<z.infer<typeof grantSchema>>();
  expect(toolCallSchema).toBeDefined();
});

test('the status of a call narrows its outcome', async () => {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'look', input: {} }] },
    { text: 'Done.' },
  ]);
  const look = tool({ inputSchema: z.object({}), execute: async () => 'seen' });
  const agent = createAgent({ model, tools: { look } });
  const { thread } = await agent.run('Look.', await agent.thread('t'));
  const [call] = thread.calls;
  if (call?.status !== 'succeeded') throw new Error('It should have succeeded.');
  expectTypeOf(call.outcome.output).toEqualTypeOf<JSONValue>();
  expect(call.outcome.output).toBe('seen');
});

const option = (id: string) => ({ id, label: id.toUpperCase() });
const fields: Question['fields'] = [
  {
    key: 'tone',
    label: 'Tone',
    options: [option('formal'), option('warm')],
    min: 1,
    max: 1,
    freeText: 'optional',
  },
  {
    key: 'days',
    label: 'Days',
    options: [option('mo'), option('tu'), option('we')],
    min: 1,
    max: 2,
    freeText: 'never',
  },
  { key: 'text', label: 'Note', options: [], min: 0, max: 0, freeText: 'only' },
];

/** A question of a custom agent about these fields, and what it was told. */
async function ask(asked: Question['fields'], allowDismiss = true) {
  const agent = createCustomAgent({
    step: ({ decisions }) => {
      const found = decisions.get('ask');
      if (found === undefined) {
        const question = { type: 'question-request', kind: 'form', text: 'Well?' } as const;
        return { requests: { ask: { ...question, fields: asked, allowDismiss } } };
      }
      return { text: JSON.stringify(found.response ?? found.status) };
    },
  });
  const thread = await agent.thread('t');
  const { userInputRequests } = await agent.run('Go', thread);
  const [question] = userInputRequests;
  if (question?.type !== 'question-request') throw new Error('A question was expected.');
  return { agent, thread, question };
}

describe('a question makes its answer', () => {
  test('of one field, from an option, a text, or both kept apart', async () => {
    const { agent, thread, question } = await ask(fields.slice(0, 1));
    const given = [
      question.answer('warm'),
      question.answer('chatty'),
      question.answer({ text: 'warm' }),
    ];
    expect(given.map((each) => each.status === 'answered' && each.answers)).toEqual([
      [{ key: 'tone', optionIds: ['warm'] }],
      [{ key: 'tone', optionIds: [], text: 'chatty' }],
      [{ key: 'tone', optionIds: [], text: 'warm' }],
    ]);
    const { text } = await agent.run(question.answer('warm'), thread);
    expect(JSON.parse(text)).toMatchObject({ answers: [{ key: 'tone', optionIds: ['warm'] }] });
    expect(JSON.parse(JSON.stringify(question))).toEqual({ ...question });
  });

  test('of several fields, by their keys, one of which may be called text', async () => {
    const { question } = await ask(fields);
    expect(question.answer({ tone: 'formal', days: ['mo', 'we'], text: 'mo' })).toMatchObject({
      answers: [
        { key: 'tone', optionIds: ['formal'] },
        { key: 'days', optionIds: ['mo', 'we'] },
        { key: 'text', optionIds: [], text: 'mo' },
      ],
    });
  });

  test('and refuses one that does not fit, or a dismissal that is not allowed, with a TypeError', async () => {
    const { question } = await ask(fields.slice(1, 2), false);
    const wrong = [
      () => question.answer('sunday'),
      () => question.answer(['mo', 'tu', 'we']),
      () => question.answer({ day: 'mo' }),
      () => question.answer({ __proto__: 'mo' }),
      () => question.answer([]),
      () => question.dismiss(),
    ];
    for (const each of wrong) expect(each).toThrow(TypeError);
    expect(question.answer('mo')).toMatchObject({ status: 'answered' });
    const { agent, thread, question: open } = await ask(fields.slice(1, 2));
    await agent.run(open.dismiss(), thread);
    expect(thread.decisions).toMatchObject([{ status: 'dismissed' }]);
  });
});
