import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import { renderSchemaError } from '../../json/field-fault.ts';
import { grantScopes, type Remember, rememberSchema } from '../../content/approval-terms.ts';
import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import { inertText } from '../../content/inert-text.ts';
import {
  findSingleField,
  type QuestionAnswer,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../../content/question.ts';
import { makeRequestCard, renderCardLines } from '../../view/request-card.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { fromInteractionResponse, makeAnswerError } from '../../tools/interaction.ts';

type Schema = Record<string, unknown>;

/** The JSON Schema of the answer to a request. `inputSchema` is that of the tool whose call an approval is for, if known. */
export function makeAnswerSchema(request: UserInputRequest, inputSchema: unknown): Schema {
  return request.type === 'approval-request'
    ? makeApprovalSchema(request, inputSchema)
    : makeQuestionSchema(request);
}

/** Parses a client's answer to a request. Throws `invalid-answer`. The answer is checked against the request when it is recorded. */
export function parseRequestAnswer(
  request: UserInputRequest,
  payload: unknown,
): UserInputResponseContent {
  return request.type === 'approval-request'
    ? parseApprovalAnswer(request, payload)
    : parseQuestionAnswer(request, payload);
}

/** Makes the schema of an approval, which allows only what the request allows. */
function makeApprovalSchema(request: ApprovalRequest, inputSchema: unknown): Schema {
  const { digest, editable, remember, requireReason, edit } = request;
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      reason: { type: 'string' },
      digest: { const: digest },
      ...(editable === undefined ? {} : { input: makeEditSchema(request, inputSchema) }),
      ...(remember === undefined ? {} : { remember: makeRememberSchema(remember) }),
    },
    /* An approval of an edited call must say which input it is for. */
    required: edit === undefined ? ['approved'] : ['approved', 'digest'],
    ...(requireReason === true ? demandedReason : {}),
    additionalProperties: false,
  };
}

const demandedReason = {
  anyOf: [
    { properties: { approved: { const: false } } },
    { properties: { reason: { type: 'string', pattern: '\\S' } }, required: ['reason'] },
  ],
};

/** Makes the schema of an edit: the request's, or else the tool's. With named fields, the others are fixed to the shown values. */
function makeEditSchema(
  { editable, toolCall, inputSchema: carried }: ApprovalRequest,
  inputSchema: unknown,
): unknown {
  const whole = carried ?? inputSchema ?? {};
  if (editable === undefined || editable === true) return whole;
  const fields = Object.entries(fieldsSchema.catch({}).parse(toolCall?.input));
  const fixed = fields.filter(([name]) => !editable.includes(name));
  const isKnown = fields.map(([name]) => name).concat(editable);
  return {
    allOf: [
      whole,
      {
        type: 'object',
        properties: {
          ...Object.fromEntries(editable.map((name) => [name, true])),
          ...Object.fromEntries(fixed.map(([name, value]) => [name, { const: value }])),
        },
        required: fixed.map(([name]) => name),
        propertyNames: { enum: [...new Set(isKnown)] },
      },
    ],
  };
}

const fieldsSchema = z.record(z.string(), z.unknown());

/** Makes the schema of `remember` in an answer: `true` for all that is allowed, or less. */
function makeRememberSchema({ scope, match, expiresAfterMs, uses }: Remember): Schema {
  const scopes = grantScopes.slice(0, grantScopes.indexOf(scope) + 1);
  return {
    anyOf: [
      { const: true },
      {
        type: 'object',
        properties: {
          scope: { enum: scopes },
          match: makeMatchSchema(match),
          expiresAfterMs: {
            type: 'number',
            exclusiveMinimum: 0,
            ...(expiresAfterMs === undefined ? {} : { maximum: expiresAfterMs }),
          },
          uses: {
            type: 'integer',
            minimum: 1,
            ...(uses === undefined ? {} : { maximum: uses }),
          },
        },
        additionalProperties: false,
      },
    ],
  };
}

function makeMatchSchema(widest: Remember['match']): Schema {
  if (widest === 'exact') return { const: 'exact' };
  const fields = { type: 'array', items: { type: 'string' }, minItems: 1 };
  if (widest === 'any') return { anyOf: [{ enum: ['exact', 'any'] }, fields] };
  /* More fields cover fewer calls. */
  const named = { ...fields, allOf: widest.map((name) => ({ contains: { const: name } })) };
  return { anyOf: [{ const: 'exact' }, named] };
}

const payloadSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  digest: z.string().optional(),
  input: z.unknown().optional(),
  remember: z.union([z.literal(true), rememberSchema.partial()]).optional(),
});

function parseApprovalAnswer(
  { requestId, remember: allowed }: ApprovalRequest,
  payload: unknown,
): ApprovalResponseContent {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) throw makeApprovalAnswerError(requestId, renderSchemaError(parsed.error));
  const { remember, ...answer } = parsed.data;
  const plain = { type: 'approval-response' as const, requestId, ...answer };
  if (remember === undefined) return plain;
  if (allowed === undefined) {
    throw makeApprovalAnswerError(requestId, "its rule doesn't allow it to be remembered");
  }
  return { ...plain, remember: { ...allowed, ...(remember === true ? {} : remember) } };
}

function makeApprovalAnswerError(requestId: string, why: string): HoldpointError {
  return new HoldpointError(
    'invalid-answer',
    `Not a valid answer to approval ${requestId}: ${why}. The request stays open.`,
    { requestId },
  );
}

/** Its description holds everything of the question except its text and fields. */
function makeQuestionSchema(request: QuestionRequestContent): Schema {
  const description = renderCardLines(makeRequestCard(request)).join('\n');
  return { ...makeFieldsSchema(request), ...(description === '' ? {} : { description }) };
}

/**
 * A question with one field and one pick takes `{ selectedOptionId?, freeText? }`, and a confirmation also `{ approved }`. Any other
 * question takes an object with a property for each field: an option's id, a list of ids, a text, or `{ selectedOptionIds?, freeText? }` if
 * both are allowed.
 */
function makeFieldsSchema(request: QuestionRequestContent): Schema {
  const single = findSingleField(request);
  if (single !== undefined) return makeSingleSchema(request, single);
  const mayDecline = request.fields.some(({ options }) => options.some(({ declines }) => declines));
  const required = mayDecline ? [] : request.fields.filter(isRequired).map(({ key }) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(request.fields.map((each) => [each.key, makeFieldSchema(each)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function parseQuestionAnswer(
  request: QuestionRequestContent,
  payload: unknown,
): QuestionResponseContent {
  const { requestId } = request;
  const single = findSingleField(request);
  if (single !== undefined) {
    const { approved, freeText, ...answer } = parseAnswer(
      singleAnswerSchema,
      expandNames(payload),
      requestId,
    );
    const given = {
      ...answer,
      ...(approved !== undefined && { confirmed: approved }),
      ...(freeText !== undefined && { freeText: toText(single, freeText) }),
    };
    return fromInteractionResponse(request, { ...given, interactionId: requestId });
  }
  const values = new Map(Object.entries(parseAnswer(objectSchema, payload, requestId)));
  const keys = new Set(request.fields.map(({ key }) => key));
  const unknown = [...values.keys()].find((key) => !keys.has(key));
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
const idsSchema = boundList(z.string());
const mixedSchema = z.strictObject({
  selectedOptionIds: idsSchema.default([]),
  freeText: z.string().optional(),
});

function makeSingleSchema(request: QuestionRequestContent, field: QuestionField): Schema {
  const properties = makeSingleProperties(request, field);
  const oneOfThem = Object.keys(properties).map((name) => ({ required: [name] }));
  const mayBeEmpty = !isRequired(field) && field.freeText !== 'optional';
  return {
    type: 'object',
    properties,
    ...(mayBeEmpty ? {} : { anyOf: oneOfThem }),
    additionalProperties: false,
  };
}

function makeFieldSchema(field: QuestionField): Schema {
  const title = inertText(field.label);
  if (field.freeText === 'only') return { title, ...makeTextSchema(field) };
  if (field.freeText === 'never') {
    return { ...(field.max > 1 ? makeListSchema(field) : makeOptionSchema(field)), title };
  }
  const properties = { selectedOptionIds: makeListSchema(field), freeText: { type: 'string' } };
  return { title, type: 'object', properties, additionalProperties: false };
}

function makeTextSchema({ schema }: QuestionField): Schema {
  return schema === undefined ? { type: 'string' } : { ...schema };
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

function makeListSchema(field: QuestionField): Schema {
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

function isRequired({ freeText, min, required = true }: QuestionField): boolean {
  return freeText === 'only' ? required : min > 0;
}

function parseFieldAnswer(field: QuestionField, value: unknown, requestId: string): QuestionAnswer {
  const { key, freeText, max } = field;
  if (value === undefined) return { key, optionIds: [] };
  if (freeText === 'only')
    return { key, optionIds: [], text: parseAnswer(z.string(), toText(field, value), requestId) };
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

/* A number is recorded as the text that says it. */
function toText({ schema }: QuestionField, value: unknown): unknown {
  const isNumeric = schema !== undefined && schema.type !== 'string';
  return isNumeric && typeof value === 'number' ? String(value) : value;
}

function parseAnswer<VALUE>(schema: z.ZodType<VALUE>, value: unknown, requestId: string): VALUE {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw makeAnswerError({ requestId }, renderSchemaError(result.error));
}

const singleAnswerSchema = z.strictObject({
  selectedOptionId: z.string().optional(),
  freeText: z.union([z.string(), z.number()]).optional(),
  approved: z.boolean().optional(),
});

function makeSingleProperties({ kind }: QuestionRequestContent, field: QuestionField): Schema {
  const { options, freeText } = field;
  const ids = new Set(options.map(({ id }) => id));
  const isYesOrNo = kind === 'confirmation' && ids.has('yes') && ids.has('no');
  return {
    ...(isYesOrNo ? { approved: { type: 'boolean' } } : {}),
    ...(options.length === 0 ? {} : { selectedOptionId: makeOptionSchema(field) }),
    ...(freeText === 'never' ? {} : { freeText: makeTextSchema(field) }),
  };
}

/** Replaces the short name `selected` in a payload by `selectedOptionId`. */
export function expandNames(payload: unknown): unknown {
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
