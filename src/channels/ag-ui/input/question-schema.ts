import { z } from 'zod';
import { inertText } from '../../../content/inert-text.ts';
import { lookAlikeWarnings } from '../../../content/look-alikes.ts';
import {
  findSingleField,
  type QuestionAnswer,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../../../content/question.ts';
import { renderAsker } from '../../../content/requester-text.ts';
import { fromInteractionResponse, makeAnswerError } from '../../../tools/interaction.ts';

type Schema = Record<string, unknown>;

/**
 * The JSON Schema of the answer to a question. A question with one field and one pick takes `{ selectedOptionId?, freeText? }`, and a
 * confirmation also `{ approved }`. Any other question takes an object with a property for each field: an option's id, a list of ids, a
 * text, or `{ selectedOptionIds?, freeText? }` if both are allowed. Its description says who asked, and
 * names letters that look alike.
 */
export function makeQuestionSchema(request: QuestionRequestContent): Schema {
  const description = [...renderAsker(request), ...lookAlikeWarnings(request)].join('\n');
  return { ...answerSchema(request), ...(description === '' ? {} : { description }) };
}

function answerSchema(request: QuestionRequestContent): Schema {
  const single = findSingleField(request);
  if (single !== undefined) return makeSingleSchema(request, single);
  const required = request.fields.filter(isRequired).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(request.fields.map((each) => [each.key, makeFieldSchema(each)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** Parses a payload as the answer to a question. Throws `invalid-answer`. Whether the options exist is checked when it is recorded. */
export function parseQuestionAnswer(
  request: QuestionRequestContent,
  payload: unknown,
): QuestionResponseContent {
  const { requestId } = request;
  if (findSingleField(request) !== undefined) {
    const { approved, ...answer } = parseAnswer(
      singleAnswerSchema,
      withFullNames(payload),
      requestId,
    );
    const confirmed = approved === undefined ? {} : { confirmed: approved };
    return fromInteractionResponse(request, { ...answer, ...confirmed, interactionId: requestId });
  }
  const values = new Map(Object.entries(parseAnswer(objectSchema, payload, requestId)));
  const unknown = [...values.keys()].find(
    (key) => !request.fields.some((field) => field.key === key),
  );
  if (unknown !== undefined) {
    throw makeAnswerError({ requestId }, `the question has no field ${JSON.stringify(unknown)}`);
  }
  const answers = request.fields.map((field) =>
    parseFieldAnswer(field, values.get(field.key), requestId),
  );
  return { type: 'question-response', requestId, status: 'answered', answers };
}

const objectSchema = z.custom<object>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);
const idsSchema = z.array(z.string());
const mixedSchema = z.strictObject({
  selectedOptionIds: idsSchema.default([]),
  freeText: z.string().optional(),
});

function makeSingleSchema(request: QuestionRequestContent, field: QuestionField): Schema {
  const properties = makeSingleProperties(request, field);
  const oneOfThem = Object.keys(properties).map((name) => ({ required: [name] }));
  const mayBeEmpty = field.freeText === 'never' && field.min === 0;
  return {
    type: 'object',
    properties,
    ...(mayBeEmpty ? {} : { anyOf: oneOfThem }),
    additionalProperties: false,
  };
}

function makeFieldSchema(field: QuestionField): Schema {
  const title = inertText(field.label);
  if (field.freeText === 'only') return { title, type: 'string' };
  if (field.freeText === 'never') {
    return { ...(field.max > 1 ? listSchema(field) : makeOptionSchema(field)), title };
  }
  const properties = { selectedOptionIds: listSchema(field), freeText: { type: 'string' } };
  return { title, type: 'object', properties, additionalProperties: false };
}

function makeOptionSchema({ options, preselected = [] }: QuestionField): Schema {
  const [first] = preselected;
  return {
    type: 'string',
    oneOf: options.map(({ id, label, description }) => ({
      const: id,
      title: inertText(label),
      ...(description === undefined ? {} : { description: inertText(description) }),
    })),
    ...(first === undefined ? {} : { default: first }),
  };
}

function listSchema(field: QuestionField): Schema {
  const { preselected, min, max, freeText } = field;
  return {
    type: 'array',
    items: makeOptionSchema({ ...field, preselected: [] }),
    uniqueItems: true,
    ...(freeText === 'never' ? { minItems: min } : {}),
    maxItems: max,
    ...(preselected === undefined ? {} : { default: preselected }),
  };
}

function isRequired({ freeText, min }: QuestionField): boolean {
  return freeText === 'only' || min > 0;
}

function parseFieldAnswer(field: QuestionField, value: unknown, requestId: string): QuestionAnswer {
  const { key, freeText, max } = field;
  if (value === undefined) return { key, optionIds: [] };
  if (freeText === 'only')
    return { key, optionIds: [], text: parseAnswer(z.string(), value, requestId) };
  if (freeText === 'optional') {
    const { selectedOptionIds, freeText: text } = parseAnswer(mixedSchema, value, requestId);
    return { key, optionIds: selectedOptionIds, ...(text === undefined ? {} : { text }) };
  }
  const optionIds =
    max > 1
      ? parseAnswer(idsSchema, value, requestId)
      : [parseAnswer(z.string(), value, requestId)];
  return { key, optionIds };
}

function parseAnswer<VALUE>(schema: z.ZodType<VALUE>, value: unknown, requestId: string): VALUE {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw makeAnswerError({ requestId }, z.prettifyError(result.error));
}

const singleAnswerSchema = z.strictObject({
  selectedOptionId: z.string().optional(),
  freeText: z.string().optional(),
  approved: z.boolean().optional(),
});

function makeSingleProperties({ kind }: QuestionRequestContent, field: QuestionField): Schema {
  const { options, freeText } = field;
  const ids = new Set(options.map(({ id }) => id));
  const isYesOrNo = kind === 'confirmation' && ids.has('yes') && ids.has('no');
  return {
    ...(isYesOrNo ? { approved: { type: 'boolean' } } : {}),
    ...(options.length === 0 ? {} : { selectedOptionId: makeOptionSchema(field) }),
    ...(freeText === 'never' ? {} : { freeText: { type: 'string' } }),
  };
}

/** A payload with the short name `selected` replaced by `selectedOptionId`. */
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
