import type { FieldSchema } from 'holdpoint';
import { questionTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { endOf, runInput, site, user } from './ag-ui-site.ts';

const seats: FieldSchema = { type: 'integer', minimum: 1, maximum: 10 };
const day: FieldSchema = { type: 'string', format: 'date' };

const endSchema = z.object({
  interrupts: z.tuple([
    z.object({ id: z.string(), responseSchema: z.record(z.string(), z.unknown()) }),
  ]),
});

/** A form with these fields, as an interrupt. */
async function ask(...keys: ('seats' | 'day')[]) {
  const schemas = { seats, day };
  const form = questionTool({
    description: 'Asks.',
    inputSchema: z.object({}),
    toQuestion: () => ({
      kind: 'form',
      text: 'What?',
      fields: keys.map((key) => ({
        key,
        label: key,
        options: [],
        min: 0,
        max: 0,
        freeText: 'only',
        schema: schemas[key],
        ...(key === 'day' && { required: false }),
      })),
      allowDismiss: true,
    }),
    toResult: () => ({ status: 'succeeded', output: 'answered' }),
  });
  const at = site([{ calls: [{ id: 'q', name: 'form', input: {} }] }, { text: 'Thanks.' }], {
    tools: { form },
    toolApproval: {},
  });
  const { events } = await at.post(runInput({ messages: [user('u1')] }));
  const { id: interruptId, responseSchema } = endSchema.parse(endOf(events)).interrupts[0];
  const answer = async (payload: unknown) => {
    const resume = [{ interruptId, status: 'resolved', payload }];
    const end = endOf((await at.post(runInput({ resume }))).events);
    const { events: log } = await at.agent.thread('t');
    const answered = log.find(({ type }) => type === 'request-answered');
    return { end, response: answered?.type === 'request-answered' ? answered.response : undefined };
  };
  return { answer, responseSchema, conforms: z.fromJSONSchema(responseSchema) };
}

test('the schema of an answer has the types, and a number of a client is recorded as its text', async () => {
  const { answer, responseSchema, conforms } = await ask('seats', 'day');
  expect(responseSchema).toMatchObject({
    properties: { seats, day },
    required: ['seats'],
  });
  expect(conforms.safeParse({ seats: 7 }).success).toBe(true);
  expect(await answer({ seats: 7 })).toMatchObject({
    response: {
      answers: [
        { key: 'seats', text: '7' },
        { key: 'day', optionIds: [] },
      ],
    },
  });
});

test('so it is for one field alone', async () => {
  const { answer, conforms } = await ask('seats');
  expect(conforms.safeParse({ freeText: 7 }).success).toBe(true);
  expect(conforms.safeParse({ freeText: 11 }).success).toBe(false);
  expect(await answer({ freeText: 7 })).toMatchObject({ response: { answers: [{ text: '7' }] } });
});

test.each([{ seats: 11 }, { seats: 'many' }, { seats: 7, day: 'soon' }, { day: '2026-02-28' }])(
  '%o is refused',
  async (payload) => {
    const { answer } = await ask('seats', 'day');
    expect(await answer(payload)).toEqual({ end: 'invalid-answer', response: undefined });
  },
);
