import { z } from 'zod';

/** The form that a typed text must have, in the words of JSON Schema. */
export type FieldSchema = TextSchema | NumberSchema;

/** A text. */
interface TextSchema {
  /** Any text that fits the rest. */
  type: 'string';
  /** The format of the text. A `date` is `2026-02-28`, a `date-time` is of RFC 3339, a `uri` has a scheme. */
  format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  /** The minimum number of characters. */
  minLength?: number | undefined;
  /** The maximum number of characters. */
  maxLength?: number | undefined;
  /** The initial text. It is not an answer. */
  default?: string | undefined;
}

/** A number, typed in decimal digits with a point: `-3`, `2.5`, `1e6`. */
interface NumberSchema {
  /** True if it must be a whole number. */
  type: 'integer' | 'number';
  /** The lowest number. */
  minimum?: number | undefined;
  /** The highest number. */
  maximum?: number | undefined;
  /** The initial number. It is not an answer. */
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
    default: z.string().optional(),
  }),
  z.strictObject({
    type: z.enum(['integer', 'number']),
    minimum: limitSchema,
    maximum: limitSchema,
    default: limitSchema,
  }),
]);

/** Finds the reason why no text could fit a schema; `undefined` if one can. */
export function whyNotFieldSchema(schema: FieldSchema): string | undefined {
  if (schema.type !== 'string') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return minimum > maximum ? 'has a minimum above its maximum' : undefined;
  }
  const { minLength = 0, maxLength = Infinity } = schema;
  return minLength > maxLength ? 'has a minLength above its maxLength' : undefined;
}

/**
 * Finds the reason why a text does not fit, in words that follow the name of the field and repeat nothing of the text; `undefined` if it
 * fits.
 */
export function whyNotText(schema: FieldSchema, text: string): string | undefined {
  const fits = schema.type === 'string' ? fitsText(schema, text) : fitsNumber(schema, text);
  return fits ? undefined : `must be ${describeFieldSchema(schema)}`;
}

function fitsNumber({ type, minimum, maximum }: NumberSchema, text: string): boolean {
  const value = parseNumber(text);
  if (value === undefined || (type === 'integer' && !Number.isSafeInteger(value))) return false;
  return value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity);
}

/** Parses the number in a text; `undefined` if there is none. */
export function parseNumber(text: string): number | undefined {
  if (text.length > 40 || !/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function fitsText(schema: TextSchema, text: string): boolean {
  const { format, minLength = 0, maxLength = Infinity } = schema;
  /* Characters are code points, as in JSON Schema. */
  const length = Array.from(text).length;
  if (length < minLength || length > maxLength) return false;
  return format === undefined || formats[format](text);
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

/** Describes the form of a text: "an integer from 1 to 10". */
export function describeFieldSchema(schema: FieldSchema): string {
  if (schema.type !== 'string') {
    const { type, minimum: from, maximum: to } = schema;
    return `${type === 'integer' ? 'an integer' : 'a number'}${describeRange(from, to, '')}`;
  }
  const { format, minLength, maxLength } = schema;
  const range = describeRange(minLength, maxLength, ' characters');
  const what = format === undefined ? 'a text' : named[format];
  return range === '' ? what : `${what},${range}`;
}

function describeRange(from: number | undefined, to: number | undefined, unit: string): string {
  if (from === undefined) return to === undefined ? '' : ` at most ${to}${unit}`;
  return to === undefined ? ` at least ${from}${unit}` : ` from ${from} to ${to}${unit}`;
}

/**
 * Finds the keyboard for the form of a text, for the `inputMode` of a text field. It is only a suggestion: a browser's own number field
 * would change the value at a turn of the mouse wheel, and drop text that is not a number.
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
