import { z } from 'zod';
import type { Question } from '../agent.ts';
import { type FieldSchema, parseNumber } from '../json/field-schema.ts';
import { makeOnce } from '../content/once.ts';
import {
  type QuestionAnswer,
  type QuestionField,
  type QuestionResponseContent,
  visitedAddress,
} from '../content/question.ts';

/** The answer to an elicitation, as MCP has it. */
export interface ElicitationResult {
  /** `accept`: answered. `decline`: the person declined. `cancel`: dismissed, or closed without an answer. */
  action: 'accept' | 'decline' | 'cancel';
  /** The answers by the names of the properties, each with the type that the server asked for. */
  content?: Record<string, string | number | boolean | string[]>;
}

/** The refusal of an elicitation, with the reason for its server. */
export class ElicitationRefused extends Error {
  /** The name of the class. */
  override readonly name = 'ElicitationRefused';
  /** The code of JSON-RPC for invalid parameters. */
  readonly code = -32_602;
}

/** An elicitation as a question, and the reader of its answer. */
interface AskedElicitation {
  question: Question;
  toResult: (response: QuestionResponseContent) => ElicitationResult;
}

const mostFields = 20;
const mostOptions = 100;
const longestText = 4_000;
const longestRequest = 65_536;

/* Made at the first use. Anything not named here could change the form of a valid answer, so it is refused. */
const readSchemas = makeOnce(() => {
  const text = z.string().max(longestText);
  const count = z.int().min(0).max(longestText).optional();
  const about = { title: text.optional(), description: text.optional() };
  const titled = z
    .array(z.strictObject({ const: text, title: text.optional() }))
    .min(1)
    .max(mostOptions);
  const values = z.array(text).min(1).max(mostOptions);
  const property = z.union([
    z.strictObject({
      type: z.literal('string'),
      ...about,
      enum: values,
      enumNames: z.array(text).optional(),
      default: text.optional(),
    }),
    z.strictObject({
      type: z.literal('string'),
      ...about,
      oneOf: titled,
      default: text.optional(),
    }),
    z.strictObject({
      type: z.literal('string'),
      ...about,
      format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
      minLength: count,
      maxLength: z.int().min(0).optional(),
      pattern: text.optional(),
      default: text.optional(),
    }),
    z.strictObject({
      type: z.enum(['integer', 'number']),
      ...about,
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      default: z.number().optional(),
    }),
    z.strictObject({ type: z.literal('boolean'), ...about, default: z.boolean().optional() }),
    z.strictObject({
      type: z.literal('array'),
      ...about,
      items: z.union([
        z.strictObject({ type: z.literal('string').optional(), enum: values }),
        z.strictObject({ type: z.literal('string').optional(), anyOf: titled }),
        z.strictObject({ type: z.literal('string').optional(), oneOf: titled }),
      ]),
      minItems: count,
      maxItems: count,
      uniqueItems: z.boolean().optional(),
      default: z.array(text).optional(),
    }),
  ]);
  return {
    property,
    request: z.looseObject({
      mode: z.string().default('form'),
      message: text,
      requestedSchema: z.unknown().optional(),
      url: z.string().max(2_048).optional(),
    }),
    form: z.strictObject({
      $schema: z.string().optional(),
      type: z.literal('object'),
      ...about,
      properties: z.record(z.string().min(1).max(200), z.unknown()),
      required: z.array(z.string()).optional(),
      additionalProperties: z.boolean().optional(),
    }),
  };
});

type Property = z.infer<ReturnType<typeof readSchemas>['property']>;

/**
 * Converts the parameters of an MCP `elicitation/create` to a question. Its first field asks whether to answer or to decline; dismissing it
 * is the server's `cancel`. Throws `ElicitationRefused` for what a question can't ask.
 */
export function readElicitation(params: unknown, server?: string): AskedElicitation {
  const { request } = readSchemas();
  if (JSON.stringify(params).length > longestRequest) {
    throw new ElicitationRefused(`The request has more than ${longestRequest} characters.`);
  }
  const parsed = request.safeParse(params);
  if (!parsed.success) throw refuse('the request', parsed.error);
  const { mode, message, requestedSchema, url } = parsed.data;
  const from = server === undefined ? 'An MCP server' : `The MCP server ${server}`;
  const text = quoteMessage(`${from} asks:`, message);
  if (mode === 'form') return readForm(text, requestedSchema);
  if (mode === 'url') return readVisit(text, url);
  throw new ElicitationRefused(`The mode ${JSON.stringify(mode.slice(0, 40))} is not supported.`);
}

/* A line of the server could imitate one of ours, such as the host of an address. */
function quoteMessage(introduction: string, message: string): string {
  const lines = message.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/);
  if (lines.length === 1) return `${introduction} ${message}`;
  return [introduction, ...lines.map((line) => `> ${line}`)].join('\n');
}

function readForm(text: string, requestedSchema: unknown): AskedElicitation {
  const { form, property: schema } = readSchemas();
  const parsed = form.safeParse(requestedSchema);
  if (!parsed.success) throw refuse('requestedSchema', parsed.error);
  const { properties, required = [] } = parsed.data;
  const named = Object.entries(properties).map(([key, given]): [string, Property] => {
    const property = schema.safeParse(given);
    if (property.success) return [key, property.data];
    throw refuse(`the property ${JSON.stringify(key)}`, property.error);
  });
  if (named.length > mostFields) {
    throw new ElicitationRefused(`It asks for more than ${mostFields} properties.`);
  }
  const missing = required.find((key) => !named.some(([name]) => name === key));
  if (missing !== undefined) {
    throw new ElicitationRefused(`It requires ${JSON.stringify(missing)}, which is no property.`);
  }
  const fields = named.map(([key, property]) => makeField(key, property, required.includes(key)));
  const reply = makeReply('Answer', findFreeKey(named.map(([key]) => key)));
  return {
    question: { kind: 'form', text, fields: [reply, ...fields], allowDismiss: true },
    toResult: (response) =>
      makeResult(response, reply.key, (answers) =>
        Object.fromEntries(
          named.flatMap(([key, property]) => {
            const value = readValue(property, answers.get(key));
            return value === undefined ? [] : [[key, value]];
          }),
        ),
      ),
  };
}

function readVisit(text: string, url: string | undefined): AskedElicitation {
  const { href, host } = parseVisit(url);
  const reply = makeReply('I have opened it, and done what it asks', 'reply');
  /* As the server wrote it, so that letters that look like others are named; the host is as browsers take it. */
  const lines = [
    text,
    '',
    `Address: ${url}`,
    `Host: ${host}`,
    'Nothing opens it for you. Open it yourself if you trust its host.',
  ];
  return {
    question: {
      kind: 'choice',
      text: lines.join('\n'),
      fields: [reply],
      allowDismiss: true,
      metadata: { [visitedAddress]: href },
    },
    toResult: (response) => makeResult(response, reply.key),
  };
}

function parseVisit(url: string | undefined): URL {
  if (url === undefined || !URL.canParse(url) || /[\s\p{C}]/u.test(url)) {
    throw new ElicitationRefused('url is not a URL.');
  }
  const address = new URL(url);
  const isLocal = address.protocol === 'http:' && address.hostname === '127.0.0.1';
  if (address.protocol !== 'https:' && !isLocal) {
    throw new ElicitationRefused('url must begin with https:, or with http://127.0.0.1.');
  }
  if (address.username !== '' || address.password !== '') {
    throw new ElicitationRefused('url must not have a user name or a password.');
  }
  return address;
}

/* An answer is always picked: a form with only suggestions, which nobody has answered, must not count as consent. */
function makeReply(label: string, key: string): QuestionField {
  const options = [
    { id: 'accept', label },
    { id: 'decline', label: 'Decline', declines: true },
  ];
  return { key, label: 'Your reply', options, min: 1, max: 1, freeText: 'never' };
}

function findFreeKey(taken: readonly string[]): string {
  let key = 'reply';
  while (taken.includes(key)) key += '_';
  return key;
}

function makeField(key: string, property: Property, required: boolean): QuestionField {
  const { title = key, description } = property;
  const label = description === undefined ? title : `${title}: ${description}`;
  const least = required ? 1 : 0;
  if (property.type === 'array') {
    const options = listChoices(property.items);
    const { minItems = 0, maxItems = options.length, default: preselected } = property;
    if (!required && minItems > 1) {
      throw new ElicitationRefused(
        `The property ${JSON.stringify(key)} is optional and has minItems above 1, which can't be asked.`,
      );
    }
    const min = required ? minItems : 0;
    return makeChoices({ key, label, options, min, max: maxItems }, preselected);
  }
  if (property.type === 'boolean') {
    const options = [
      { id: 'true', label: 'Yes' },
      { id: 'false', label: 'No' },
    ];
    const preselected = property.default === undefined ? undefined : [String(property.default)];
    return makeChoices({ key, label, options, min: least, max: 1 }, preselected);
  }
  if ('enum' in property || 'oneOf' in property) {
    const preselected = property.default === undefined ? undefined : [property.default];
    const options = listChoices(property);
    return makeChoices({ key, label, options, min: least, max: 1 }, preselected);
  }
  return {
    key,
    label: `${label}${describePattern(property)}`,
    options: [],
    min: 0,
    max: 0,
    freeText: 'only',
    schema: makeTextSchema(property),
    ...(required ? {} : { required: false }),
  };
}

function makeChoices(
  field: Pick<QuestionField, 'key' | 'label' | 'options' | 'min' | 'max'>,
  preselected: string[] | undefined,
): QuestionField {
  return { ...field, freeText: 'never', ...(preselected === undefined ? {} : { preselected }) };
}

type Choices =
  | { enum: string[]; enumNames?: string[] | undefined }
  | { oneOf: { const: string; title?: string | undefined }[] }
  | { anyOf: { const: string; title?: string | undefined }[] };

function listChoices(choices: Choices): QuestionField['options'] {
  if ('enum' in choices) {
    const { enumNames = [] } = choices;
    return choices.enum.map((id, index) => ({ id, label: enumNames[index] ?? id }));
  }
  const titled = 'oneOf' in choices ? choices.oneOf : choices.anyOf;
  return titled.map(({ const: id, title = id }) => ({ id, label: title }));
}

type TextProperty = Extract<Property, { type: 'integer' | 'number' }> | PlainText;
type PlainText = Exclude<
  Extract<Property, { type: 'string' }>,
  { enum: string[] } | { oneOf: object[] }
>;

/* A server checks its own pattern: here that could take forever. With a format, the pattern would only repeat it. */
function describePattern(property: TextProperty): string {
  if (property.type !== 'string' || property.format !== undefined) return '';
  return property.pattern === undefined ? '' : ` (must match ${property.pattern})`;
}

function makeTextSchema({
  title: _title,
  description: _description,
  ...schema
}: TextProperty): FieldSchema {
  if (schema.type === 'string') {
    const { pattern: _pattern, ...plain } = schema;
    return plain;
  }
  /* Schemas made by programs name the limits of a whole number. */
  const { minimum, maximum, ...plain } = schema;
  return {
    ...plain,
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
  };
}

function makeResult(
  response: QuestionResponseContent,
  replyKey: string,
  makeContent?: (answers: ReadonlyMap<string, QuestionAnswer>) => ElicitationResult['content'],
): ElicitationResult {
  if (response.status === 'dismissed') return { action: 'cancel' };
  const answers = new Map(response.answers.map((answer) => [answer.key, answer]));
  const [reply] = answers.get(replyKey)?.optionIds ?? [];
  if (reply !== 'accept') return { action: 'decline' };
  const content = makeContent?.(answers);
  return { action: 'accept', ...(content === undefined ? {} : { content }) };
}

function readValue(
  property: Property,
  answer: QuestionAnswer | undefined,
): string | number | boolean | string[] | undefined {
  const { optionIds = [], text } = answer ?? {};
  const [picked] = optionIds;
  switch (property.type) {
    case 'array':
      return optionIds.length === 0 && (property.minItems ?? 0) > 0 ? undefined : [...optionIds];
    case 'boolean':
      return picked === undefined ? undefined : picked === 'true';
    case 'string':
      return picked ?? text;
    case 'integer':
    case 'number':
      return text === undefined ? undefined : parseNumber(text);
  }
}

function refuse(what: string, error: z.ZodError): ElicitationRefused {
  const [issue] = error.issues;
  const where = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  const reason = `${issue?.message ?? 'it is invalid'}${where}`;
  return new ElicitationRefused(
    `Can't be asked: ${what} is not one that a form may have (${reason}). Forms have flat properties: texts, numbers, booleans, and enumerations.`,
  );
}
