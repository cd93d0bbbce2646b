import { z } from 'zod';
import { boundList } from '../json/bounded-list.ts';
import { type FieldFault, renderFieldFault } from '../json/field-fault.ts';
import {
  describeFieldSchema,
  type FieldSchema,
  fieldSchemaSchema,
  whyNotFieldSchema,
  whyNotText,
} from '../json/field-schema.ts';
import { inertLine } from './inert-text.ts';
import { requestedFields } from './requesters.ts';
import {
  type PlainToolCall,
  type RequestPath,
  requestPathSchema,
  toolCallSchema,
} from './tool-call.ts';

/** An option of a question. */
export interface QuestionOption {
  /** Its id in answers. Unique in its field. */
  id: string;
  /** The text that people read. */
  label: string;
  /** More about it, for people. */
  description?: string | undefined;
  /** Picking it declines the whole question: the other fields need no answer. */
  declines?: boolean | undefined;
}

/** One field of a question: options to pick from, text to type, or both. */
export interface QuestionField {
  /** Its key in answers. Unique in its question. */
  key: string;
  /** The text that people read. */
  label: string;
  /** The options to pick from; empty if only text is asked for. */
  options: QuestionOption[];
  /** The minimum number of options to pick. */
  min: number;
  /** The maximum number of options to pick. Above 1, several may be picked. */
  max: number;
  /** The ids of options that are selected when the question is first shown. They don't count as an answer. */
  preselected?: string[] | undefined;
  /** The rule for typed text: `never`, `optional` (instead of options or with them), or `only` (there are no options). */
  freeText: 'never' | 'optional' | 'only';
  /** The schema of the text, where only text is asked for. Absent: any text. */
  schema?: FieldSchema | undefined;
  /** `false`: the text may be left out, where only text is asked for. A field with options has `min` for that. Absent: it must be typed. */
  required?: boolean | undefined;
}

/** The answer to one field of a question. */
export interface QuestionAnswer {
  /** The `key` of the field. */
  key: string;
  /** The ids of the picked options. */
  optionIds: string[];
  /** The typed text. Absent: none. */
  text?: string | undefined;
}

/** A question to a person, as plain JSON: a confirmation, a choice, free text, or a form of several fields. */
export interface QuestionRequestContent {
  /** Distinguishes a question from an approval. */
  type: 'question-request';
  /** The kind of answer: yes or no, a text, options, or several things. */
  kind: 'confirmation' | 'question' | 'choice' | 'form';
  /** Made by holdpoint from at least 128 random bits. Answers name it. */
  requestId: string;
  /** The thread that waits for the answer. */
  threadId: string;
  /** The app's key of the request, if it gave one. */
  key?: string | undefined;
  /** The question, for people. */
  text: string;
  /** The fields to answer, in order. */
  fields: QuestionField[];
  /** True if the person may dismiss the question. */
  allowDismiss: boolean;
  /** The answers that the tool receives if the question is dismissed: a remote tool's `default`. */
  dismissAnswer?: QuestionAnswer[] | undefined;
  /** The call that asks. */
  toolCall?: PlainToolCall | undefined;
  /**
   * Set for the request of a sub-agent: the delegated calls that lead to it, outermost first. `toolCall` is then the sub-agent's own
   * call.
   */
  path?: RequestPath | undefined;
  /** The `principal` of the latest message. */
  requestedBy?: unknown;
  /**
   * Everybody whose unanswered message led to the request, in order, each once; `null` stands for an unknown person. Absent if nobody is
   * known.
   */
  requesters?: unknown[] | undefined;
  /** The time when the question was asked, in milliseconds since 1970. */
  createdAt: number;
  /** The time when the question expires, in milliseconds since 1970. Absent: never. */
  expiresAt?: number | undefined;
  /** Data for the channel that shows the question. */
  metadata?: Record<string, unknown> | undefined;
}

/** A person's answers to a question, or that it was dismissed. It never approves a call. */
export type QuestionResponseContent =
  | {
      /** Distinguishes the answer to a question from the answer to an approval. */
      type: 'question-response';
      /** The question that it answers. */
      requestId: string;
      /** The person has answered. */
      status: 'answered';
      /** The answers, one for each field. */
      answers: QuestionAnswer[];
      /** JSON of the channel's own. */
      metadata?: unknown;
    }
  | {
      /** Distinguishes the answer to a question from the answer to an approval. */
      type: 'question-response';
      /** The question that was dismissed. */
      requestId: string;
      /** The person has not answered, and doesn't want to. */
      status: 'dismissed';
      /** JSON of the channel's own. */
      metadata?: unknown;
    };

/** A question as an agent returns it: the plain data, and methods that make its answers. `JSON.stringify` writes only the plain data. */
export interface AnswerableQuestion extends QuestionRequestContent {
  /**
   * Makes the answer, for `agent.run` or `agent.respond`: the id of an option, or a text where the question takes one; several ids in a
   * list; and for a question of several fields, an object with the answer to each by its `key`. A text that is the id of an option picks
   * that option; `{ text }` is always a text. Throws a `TypeError` for an answer that doesn't fit the question.
   *
   * @example
   * await agent.respond(question.answer('yes'), thread);
   * await agent.respond(form.answer({ flight: 'late', seats: ['4A', '4B'], note: { text: 'late' } }), thread);
   */
  answer(given: FieldAnswer | Readonly<Record<string, FieldAnswer>>): QuestionResponseContent;
  /** Makes the answer that dismisses the question. Throws a `TypeError` for a question that can't be dismissed. */
  dismiss(): QuestionResponseContent;
}

/** The answer to a field: the id of an option or a text, ids, or both kept apart. */
export type FieldAnswer =
  | string
  | readonly string[]
  | { optionIds?: readonly string[]; text?: string };

const questionOptionSchema = z.strictObject({
  id: z.string().min(1),
  label: z.string(),
  description: z.string().optional(),
  declines: z.boolean().optional(),
});

const questionFieldSchema = z.strictObject({
  key: z.string().min(1),
  label: z.string(),
  options: z.array(questionOptionSchema),
  min: z.int().min(0),
  max: z.int().min(0),
  preselected: z.array(z.string()).optional(),
  freeText: z.enum(['never', 'optional', 'only']),
  schema: fieldSchemaSchema.optional(),
  required: z.boolean().optional(),
});

/* Answers are an array, because keys from outside must not index plain objects. */
const questionAnswerSchema = z.strictObject({
  key: z.string().min(1),
  optionIds: boundList(z.string()),
  text: z.string().optional(),
});

/* Nobody fills in more. The options of a field have no maximum, as the protocol has none: the bytes of a body bound them. */
const mostFields = 1_000;

/** The schema of `QuestionRequestContent`. */
export const questionRequestSchema = z.strictObject({
  type: z.literal('question-request'),
  kind: z.enum(['confirmation', 'question', 'choice', 'form']),
  requestId: z.string().min(1),
  threadId: z.string().min(1),
  key: z.string().optional(),
  text: z.string(),
  fields: z.array(questionFieldSchema).min(1).max(mostFields),
  allowDismiss: z.boolean(),
  dismissAnswer: z.array(questionAnswerSchema).optional(),
  toolCall: toolCallSchema.optional(),
  path: requestPathSchema.optional(),
  ...requestedFields,
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** The schema of `QuestionResponseContent`. */
export const questionResponseSchema = z.discriminatedUnion('status', [
  z.strictObject({
    type: z.literal('question-response'),
    requestId: z.string().min(1),
    status: z.literal('answered'),
    answers: boundList(questionAnswerSchema, mostFields),
    metadata: z.unknown().optional(),
  }),
  z.strictObject({
    type: z.literal('question-response'),
    requestId: z.string().min(1),
    status: z.literal('dismissed'),
    metadata: z.unknown().optional(),
  }),
]);

/** A question that asks one thing, with one field that repeats its text. People pick one option, type if they may, or dismiss it. */
export function makeChoice({
  kind,
  text,
  ...field
}: Pick<QuestionRequestContent, 'kind' | 'text'> &
  Pick<QuestionField, 'key' | 'options' | 'preselected' | 'freeText'>): Pick<
  QuestionRequestContent,
  'kind' | 'text' | 'fields' | 'allowDismiss'
> {
  return { kind, text, fields: [{ label: text, min: 1, max: 1, ...field }], allowDismiss: true };
}

/** The field of a question that asks one thing with at most one pick; `undefined` for any other. */
export function findSingleField({ fields }: QuestionRequestContent): QuestionField | undefined {
  const [field, ...more] = fields;
  return field !== undefined && more.length === 0 && field.max <= 1 ? field : undefined;
}

/** The labels of the picked options, in the order of the field. */
export function listLabels({ options }: QuestionField, picked: readonly string[]): string[] {
  const ids = new Set(picked);
  return options.filter(({ id }) => ids.has(id)).map(({ label }) => label);
}

/**
 * Finds the reason why a response does not fit a question, in words for its sender; `undefined` if it fits. A response must answer every
 * field once, with as many of the field's options as it allows, and with text only if the field takes text.
 */
export function whyNotAnswer(
  { fields, allowDismiss }: QuestionRequestContent,
  response: QuestionResponseContent,
): FieldFault | undefined {
  if (response.status === 'dismissed') {
    return allowDismiss ? undefined : { reason: "it can't be dismissed" };
  }
  const answers = new Map(response.answers.map((answer) => [answer.key, answer]));
  if (answers.size < response.answers.length) return { reason: 'it answers a field twice' };
  const keys = new Set(fields.map(({ key }) => key));
  const unknown = response.answers.find(({ key }) => !keys.has(key));
  if (unknown !== undefined) return { field: [unknown.key], reason: 'is not in the question' };
  const isDeclined = hasDeclined(fields, response.answers);
  for (const field of fields) {
    const answer = answers.get(field.key);
    if (isDeclined && isEmpty(answer)) continue;
    const reason = whyNotAnswered(field, answer);
    if (reason !== undefined) return { field: [field.key], reason };
  }
  return undefined;
}

/** Checks whether an option was picked that declines the whole question. */
export function hasDeclined(
  fields: readonly QuestionField[],
  answers: readonly QuestionAnswer[],
): boolean {
  const picked = new Map(answers.map(({ key, optionIds }) => [key, new Set(optionIds)]));
  return fields.some(({ key, options }) =>
    options.some(({ id, declines = false }) => declines && picked.get(key)?.has(id) === true),
  );
}

function isEmpty(answer: QuestionAnswer | undefined): boolean {
  return answer === undefined || (answer.optionIds.length === 0 && answer.text === undefined);
}

function whyNotAnswered(
  { options, min, max, freeText, schema, required = true }: QuestionField,
  answer: QuestionAnswer | undefined,
): string | undefined {
  if (answer === undefined) return 'is not answered';
  const { optionIds, text } = answer;
  const picked = new Set(optionIds);
  if (picked.size < optionIds.length) return 'selects an option twice';
  const known = new Set(options.map(({ id }) => id));
  if (!optionIds.every((id) => known.has(id))) return 'has no such option';
  if (text !== undefined && freeText === 'never') return 'does not accept text';
  if (text !== undefined && !text.isWellFormed()) return 'has text that is not well-formed';
  if (freeText === 'only' && picked.size > 0) return 'accepts only text';
  if (picked.size > max) return `accepts at most ${max} option(s)`;
  if (text !== undefined) return schema && whyNotText(schema, text);
  if (freeText === 'only') return required ? 'needs text' : undefined;
  if (picked.size >= min) return undefined;
  return `needs at least ${min} option(s)${freeText === 'never' ? '' : ', or text'}`;
}

/**
 * Finds the reason why a question can't be asked: its keys or ids are ambiguous, or it can't be answered. `undefined` if it can be asked.
 */
export function whyNotQuestion(question: QuestionRequestContent): string | undefined {
  const { fields, requestId, dismissAnswer } = question;
  if (fields.length === 0) return 'it has no fields';
  if (hasDuplicates(fields.map(({ key }) => key))) return 'two of its fields have the same key';
  for (const field of fields) {
    const { key, options, min, max, freeText, preselected = [], schema } = field;
    const named = `field ${JSON.stringify(key)}`;
    if (hasDuplicates(options.map(({ id }) => id)))
      return `two options of ${named} have the same id`;
    if (options.some(({ id }) => id.trim() === '')) return `an option of ${named} has a blank id`;
    if (freeText === 'never' && Math.min(options.length, max) < min) {
      return `${named} has too few options to be answered`;
    }
    const known = new Set(options.map(({ id }) => id));
    if (preselected.some((id) => !known.has(id))) {
      return `${named} preselects an option that it does not have`;
    }
    if (freeText !== 'only' && (schema ?? field.required) !== undefined) {
      return `${named} has a schema or required, which are for fields that ask for text only`;
    }
    const fault = schema && whyNotFieldSchema(schema);
    if (fault !== undefined) return `the schema of ${named} ${fault}`;
  }
  if (dismissAnswer === undefined) return undefined;
  const response = { type: 'question-response', requestId, status: 'answered' } as const;
  const fault = whyNotAnswer(question, { ...response, answers: dismissAnswer });
  return fault === undefined
    ? undefined
    : `its dismissAnswer does not fit: ${renderFieldFault(fault)}`;
}

/**
 * Describes the text that may be typed into a field, to show beside it: "an integer from 1 to 10, optional". `undefined` where there is
 * nothing to say.
 */
export function describeText({ schema, required }: QuestionField): string | undefined {
  const hints = [
    ...(schema === undefined ? [] : [describeFieldSchema(schema)]),
    ...(required === false ? ['optional'] : []),
    ...(schema?.default === undefined ? [] : [`suggested: ${schema.default}`]),
  ];
  return hints.length === 0 ? undefined : inertLine(hints.join(', '));
}

/** The key of a question's metadata that has an address which people are asked to open themselves. */
export const visitedAddress = 'holdpoint.address';

/** Checks whether a text is there twice. */
export function hasDuplicates(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length;
}
