import { z } from 'zod';
import type { QuestionField, QuestionRequestContent } from '../../../content/question.ts';

/** The field of a question that asks one thing, with one pick at the most; `undefined` for any other. */
export function singleField({ fields }: QuestionRequestContent): QuestionField | undefined {
  const [field, ...more] = fields;
  return field !== undefined && more.length === 0 && field.max <= 1 ? field : undefined;
}

/** What an answer to such a question may say, whichever tool asked. */
export const singleAnswerSchema = z.strictObject({
  selectedOptionId: z.string().optional(),
  freeText: z.string().optional(),
  approved: z.boolean().optional(),
});

/** The properties of such an answer, by the names that its payload has. */
export function singleProperties(
  { kind }: QuestionRequestContent,
  { options, freeText }: QuestionField,
  pick: Record<string, unknown>,
): Record<string, unknown> {
  const ids = new Set(options.map(({ id }) => id));
  const isYesOrNo = kind === 'confirmation' && ids.has('yes') && ids.has('no');
  return {
    ...(isYesOrNo ? { approved: { type: 'boolean' } } : {}),
    ...(options.length === 0 ? {} : { selectedOptionId: pick }),
    ...(freeText === 'never' ? {} : { freeText: { type: 'string' } }),
  };
}

/** A payload with its short name written out: `selected` is `selectedOptionId`. */
export function withFullNames(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'selected')) {
    return payload;
  }
  const names = Object.entries(payload);
  const isTwice = names.some(([name]) => /^selected_?option_?id$/i.test(name));
  return isTwice
    ? payload
    : Object.fromEntries(
        names.map(([name, value]) => [name === 'selected' ? 'selectedOptionId' : name, value]),
      );
}
