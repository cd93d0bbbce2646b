import { tool, type ToolSet } from 'ai';
import { later } from 'holdpoint';
import { askConfirmation, questionTool, questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { cityInput, look } from '../support/travel-world.ts';
import { custom, endOf, runInput, site, user } from './ag-ui-site.ts';
import { pickCases } from '../support/sampling.ts';

const labels = ['First', 'Second'];
const options = labels.map((label) => ({ id: label.toLowerCase(), label }));
const described = labels.map((label) => ({ label, description: `The ${label}` }));
const plain = questionTool({
  description: 'Asks.',
  inputSchema: z.object({}),
  toQuestion: () => ({
    kind: 'choice',
    text: 'Which?',
    fields: [{ key: 'pick', label: 'Which?', options, min: 1, max: 1, freeText: 'never' }],
    allowDismiss: true,
  }),
  toResult: (response) => ({ status: 'succeeded', output: JSON.stringify(response) }),
});
const answering = { [Symbol.for('holdpoint.answering')]: { deliver: async () => {} } };
const far: ToolSet[string] = tool({ inputSchema: cityInput, execute: async () => later });
const tools: ToolSet = {
  ...questionTools(),
  ask_confirmation: askConfirmation(),
  plain,
  look: Object.assign(far, answering),
};

type Call = NonNullable<Extract<ScriptedStep, { calls?: unknown }>['calls']>[number];

const calls: [string, Call][] = [
  ['ask_question', { id: 'q', name: 'ask_question', input: { question: 'Which?', options } }],
  ['ask_confirmation', { id: 'q', name: 'ask_confirmation', input: { question: 'Sure?' } }],
  [
    'user_choice',
    {
      id: 'q',
      name: 'user_choice',
      input: { question: 'Which?', options: JSON.stringify(labels) },
    },
  ],
  [
    'AskUserQuestion',
    {
      id: 'q',
      name: 'AskUserQuestion',
      input: { questions: [{ question: 'Which?', header: 'Pick', options: described }] },
    },
  ],
  ['a tool of the app', { id: 'q', name: 'plain', input: {} }],
  ['a tool on another server', look('q', 'Oslo')],
];

const outcomeSchema = z.object({
  interrupts: z.tuple([
    z.object({ id: z.string(), responseSchema: z.record(z.string(), z.unknown()) }),
  ]),
});
const pickSchema = z.object({
  properties: z.object({
    selectedOptionId: z.object({ oneOf: z.array(z.object({ const: z.string() })) }),
  }),
});

/** A question that a call asks, as an interrupt, and the id of its second option. */
async function asked(call: Call) {
  const at = site([{ calls: [call] }, { text: 'Thanks.' }], { tools, toolApproval: {} });
  const first = await at.post(runInput({ messages: [user('u1')] }));
  if (call.name === 'look') {
    const question = {
      kind: 'choice' as const,
      text: 'Which?',
      fields: [
        { key: 'pick', label: 'Which?', options, min: 1, max: 1, freeText: 'never' as const },
      ],
      allowDismiss: true,
    };
    await at.agent.requestAnswer(await at.agent.thread('t'), 'q', question, { replyTo: {} });
  }
  const { events } = call.name === 'look' ? await at.post(runInput()) : first;
  const { id: interruptId, responseSchema } = outcomeSchema.parse(endOf(events)).interrupts[0];
  const picks = pickSchema.parse(responseSchema).properties.selectedOptionId.oneOf;
  const picked = picks[1]?.const ?? '';
  const conforms = (payload: unknown) =>
    z.fromJSONSchema(responseSchema).safeParse(payload).success;
  const answer = async () => {
    const { events: log } = await at.agent.thread('t');
    const answered = log.find(({ type }) => type === 'request-answered');
    return answered?.type === 'request-answered' ? answered.response : undefined;
  };
  return { ...at, interruptId, picked, conforms, answer };
}

describe.each(pickCases(calls))('one answer fits a question of %s', (_tool, call) => {
  test.each(['selectedOptionId', 'selected'])('in resume, as { %s }', async (name) => {
    const at = await asked(call);
    const payload = { [name]: at.picked };
    const resume = [{ interruptId: at.interruptId, status: 'resolved', payload }];
    const { events } = await at.post(runInput({ resume }));
    expect(endOf(events)).toMatchObject({ type: 'success' });
    expect(await at.answer()).toMatchObject({ answers: [{ optionIds: [at.picked] }] });
    expect(at.conforms({ selectedOptionId: at.picked })).toBe(true);
  });

  test('in forwardedProps.interactionResponse', async () => {
    const at = await asked(call);
    const interactionResponse = { interactionId: at.interruptId, selected: at.picked };
    const { events } = await at.post(runInput({ forwardedProps: { interactionResponse } }));
    expect(endOf(events)).toMatchObject({ type: 'success' });
    expect(await at.answer()).toMatchObject({ answers: [{ optionIds: [at.picked] }] });
  });

  test.each<[string, object]>([
    ['an option that it has not', { selected: 'oracle' }],
    ['a place, not an option', { selected: 1 }],
    ['two options', { selected: 'first', selectedOptionId: 'second' }],
    ['nothing', {}],
  ])('and %s is refused', async (_what, payload) => {
    const at = await asked(call);
    const resume = [{ interruptId: at.interruptId, status: 'resolved', payload }];
    const { events } = await at.post(runInput({ resume }));
    expect(endOf(events)).toBe('invalid-answer');
    expect(await at.answer()).toBeUndefined();
    expect(custom(events, 'interaction_resolved')).toEqual([]);
  });
});
