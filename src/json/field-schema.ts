import { z } from 'zod';
import { compilePattern } from './linear-pattern.ts';

/** What a typed text must be, in the words of JSON Schema. */
export type FieldSchema = TextSchema | NumberSchema;

/** A text. */
interface TextSchema {
  /** Any text that fits the rest. */
  type: 'string';
  /** What the text is. A `date` is `2026-02-28`, a `date-time` is of RFC 3339, a `uri` has a scheme. */
  format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** The minimum number of characters. */
  minLength?: number | undefined;
  /** The maximum number of characters. */
  maxLength?: number | undefined;
  /**
   * A regular expression, matched anywhere in the text unless it has anchors, in linear time: classes, groups, choices, repetitions and anchors,
   * no lookaround and no back references.
   */
  pattern?: string | undefined;
  /** A text to begin with. It is not an answer. */
  default?: string | undefined;
}

/** A number, typed in decimal digits with a point: `-3`, `2.5`, `1e6`. */
interface NumberSchema {
  /** Whether it must be a whole number. */
  type: 'integer' | 'number';
  /** The lowest number. */
  minimum?: number | undefined;
  /** The highest number. */
  maximum?: number | undefined;
  /** A number to begin with. It is not an answer. */
  default?: number | undefined;
}

const countSchema = z.int().min(0).optional();
const limitSchema = z.number().optional();

/** The schema of `FieldSchema`. */
export const fieldSchemaSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('string'),
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
    minLength: countSchema,
    maxLength: countSchema,
    pattern: z.string().optional(),
    default: z.string().optional(),
  }),
  z.strictObject({
    type: z.enum(['integer', 'number']),
    minimum: limitSchema,
    maximum: limitSchema,
    default: limitSchema,
  }),
]);

/** Why no text could fit a schema, or the schema can't be checked; `undefined` if it can. */
export function whyNotFieldSchema(schema: FieldSchema): string | undefined {
  if (schema.type !== 'string') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return minimum > maximum ? 'has a minimum above its maximum' : undefined;
  }
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (minLength > maxLength) return 'has a minLength above its maxLength';
  try {
    if (pattern !== undefined) compilePattern(pattern);
    return undefined;
  } catch (error) {
    return `can't be checked: its ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Why a text does not fit, in words that follow the name of the field and repeat nothing of the text; `undefined` if it fits. */
export function whyNotText(schema: FieldSchema, text: string): string | undefined {
  const fits = schema.type === 'string' ? fitsText(schema, text) : fitsNumber(schema, text);
  return fits ? undefined : `must be ${describeFieldSchema(schema)}`;
}

function fitsNumber({ type, minimum, maximum }: NumberSchema, text: string): boolean {
  const value = parseNumber(text);
  if (value === undefined || (type === 'integer' && !Number.isSafeInteger(value))) return false;
  return value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity);
}

/** The number that a text says; `undefined` for none. */
export function parseNumber(text: string): number | undefined {
  if (text.length > 40 || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function fitsText(schema: TextSchema, text: string): boolean {
  const { format, minLength = 0, maxLength = Infinity, pattern } = schema;
  /* Characters are code points, as in JSON Schema. */
  const length = Array.from(text).length;
  if (length < minLength || length > maxLength) return false;
  if (format !== undefined && !formats[format](text)) return false;
  return pattern === undefined || compilePattern(pattern)(text);
}

const formats = {
  email: (text: string) =>
    text.length <= 254 && /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uri: (text: string) =>
    text.length <= 2_048 && /^[a-z][a-z\d+.-]*:\S+$/i.test(text) && URL.canParse(text),
  date: isDate,
  'date-time': (text: string) => {
    const [, date = '', zone = ''] = timePattern.exec(text) ?? [];
    return zone !== '' && isDate(date);
  },
};

const timePattern =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  /* A day that its month does not have becomes one of the next. */
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const named = {
  email: 'an e-mail address',
  uri: 'an address such as https://example.com',
  date: 'a date such as 2026-02-28',
  'date-time': 'a date and time such as 2026-02-28T13:45:00Z',
};

/** What a text must be, in words: "an integer from 1 to 10". A pattern in it is not inert. */
export function describeFieldSchema(schema: FieldSchema): string {
  if (schema.type !== 'string') {
    const { type, minimum: from, maximum: to } = schema;
    return `${type === 'integer' ? 'an integer' : 'a number'}${describeRange(from, to, '')}`;
  }
  const { format, minLength, maxLength, pattern } = schema;
  const range = describeRange(minLength, maxLength, ' characters');
  const what = format === undefined ? 'a text' : named[format];
  return `${what}${range === '' ? '' : `,${range}`}${pattern === undefined ? '' : ` that matches ${pattern}`}`;
}

function describeRange(from: number | undefined, to: number | undefined, unit: string): string {
  if (from === undefined) return to === undefined ? '' : ` at most ${to}${unit}`;
  return to === undefined ? ` at least ${from}${unit}` : ` from ${from} to ${to}${unit}`;
}

/**
 * The keyboard that suits what a text must be, for the `inputMode` of a text field. It only suggests: a field of a browser's own for numbers
 * would change the value at a turn of the mouse wheel, and drop what is no number.
 */
export function findInputMode(
  schema: FieldSchema | undefined,
): 'email' | 'url' | 'numeric' | 'decimal' | undefined {
  if (schema?.type === 'string') {
    if (schema.format === 'email') return 'email';
    return schema.format === 'uri' ? 'url' : undefined;
  }
  /* Keyboards of digits have no minus. */
  if (schema === undefined || (schema.minimum ?? -1) < 0) return undefined;
  return schema.type === 'integer' ? 'numeric' : 'decimal';
}
