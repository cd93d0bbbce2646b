import type {
  AgentOptions,
  Question,
  QuestionRequestContent,
  QuestionResponseContent,
} from 'holdpoint';
import { questionTool } from 'holdpoint/tools';
import { z } from 'zod';
import { storeKits } from '../support/store-kits.ts';
import { askOne, overTheWire } from './asked.ts';

/** A form with every kind of field. */
export const form: Question = {
  kind: 'form',
  text: 'Your order',
  allowDismiss: false,
  fields: [
    { key: 'size', label: 'Size', options: optionsOf('sml'), min: 1, max: 1, freeText: 'never' },
    {
      key: 'extras',
      label: 'Extras',
      options: optionsOf('abc'),
      min: 1,
      max: 2,
      freeText: 'never',
    },
    { key: 'name', label: 'Name', options: [], min: 1, max: 1, freeText: 'only' },
    { key: 'note', label: 'Note', options: optionsOf('xy'), min: 1, max: 1, freeText: 'optional' },
  ],
};

/** The form, filled in. */
export const filled = [
  { key: 'size', optionIds: ['m'] },
  { key: 'extras', optionIds: ['c', 'a'] },
  { key: 'name', optionIds: [], text: 'Ann' },
  { key: 'note', optionIds: ['x'], text: 'cold' },
];

/** A choice that can be left, and takes text. */
export const oneOf: Question = {
  kind: 'choice',
  text: 'Which?',
  allowDismiss: true,
  fields: [
    {
      key: 'choice',
      label: 'Which?',
      options: optionsOf('ab'),
      min: 1,
      max: 1,
      freeText: 'optional',
    },
  ],
};

/** Options of one letter each. */
export function optionsOf(ids: string) {
  return ids.split('').map((id) => ({ id, label: `Option ${id}` }));
}

/** A tool that asks this; its result is the answers. */
export function asks(question: Question | (() => Question)) {
  return questionTool({
    description: 'asks',
    inputSchema: z.looseObject({}),
    toQuestion: () => (typeof question === 'function' ? question() : question),
    toResult: (response) => ({
      status: 'succeeded',
      output: response.status === 'answered' ? overTheWire(response.answers) : 'left',
    }),
  });
}

/** A thread that waits for the form. */
export const askForm = async () => askOne(asks(form), {});

/** A thread that waits for the choice. */
export const askPick = async (options: Partial<AgentOptions> = {}) =>
  askOne(asks(oneOf), {}, options);

/** Answers to the fields of a question. */
export function answered(
  { requestId }: QuestionRequestContent,
  answers: Extract<QuestionResponseContent, { status: 'answered' }>['answers'],
): QuestionResponseContent {
  return { type: 'question-response', requestId, status: 'answered', answers };
}

/** Where the threads of a test are kept. */
export function keptOn(name: string) {
  const kept = storeKits.find((kit) => kit.name === name)?.keep();
  if (kept === undefined) throw new Error(`There is no ${name}.`);
  return kept;
}
