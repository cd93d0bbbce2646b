import { z } from 'zod';

/** How an argument is meant, as a tool's schema or the app declares it. Nothing is guessed from a value. */
export type FieldFormat =
  | MoneyFormat
  | DateTimeFormat
  | DateFormat
  | DurationFormat
  | CodeFormat
  | FileFormat
  | SecretFormat;

interface MoneyFormat {
  /** An amount of money. */
  type: 'money';
  /** An ISO 4217 code, such as `EUR`, or the path of the argument that has it. */
  currency: string | { path: string[] };
  /** Whether the amount is in the currency's unit, or in its smallest one, such as cents. */
  unit: 'major' | 'minor';
}

interface DateTimeFormat {
  /** A point in time. */
  type: 'date-time';
  /** ISO 8601 text, or a number since 1970. */
  unit: 'iso' | 'seconds' | 'milliseconds';
}

interface DateFormat {
  /** A day without a time, as ISO 8601 text. */
  type: 'date';
}

interface DurationFormat {
  /** A length of time. */
  type: 'duration';
  /** ISO 8601 text, or a number. */
  unit: 'iso' | 'seconds' | 'milliseconds' | 'minutes';
}

interface CodeFormat {
  /** Text in a language for machines, shown plain. */
  type: 'code';
  /** The language, for people. */
  language?: string | undefined;
}

interface FileFormat {
  /** The bytes of a file as base64. An image is shown as one. */
  type: 'file';
  /** Its media type, such as `image/png`. */
  mediaType?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

interface SecretFormat {
  /** What must not be shown. It is masked before it leaves the server, and counted. */
  type: 'secret';
}

/** The schema of `FieldFormat`. */
export const fieldFormatSchema: z.ZodType<FieldFormat> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('money'),
    currency: z.union([z.string(), z.strictObject({ path: z.array(z.string()) })]),
    unit: z.enum(['major', 'minor']),
  }),
  z.strictObject({
    type: z.literal('date-time'),
    unit: z.enum(['iso', 'seconds', 'milliseconds']),
  }),
  z.strictObject({ type: z.literal('date') }),
  z.strictObject({
    type: z.literal('duration'),
    unit: z.enum(['iso', 'seconds', 'milliseconds', 'minutes']),
  }),
  z.strictObject({ type: z.literal('code'), language: z.string().optional() }),
  z.strictObject({
    type: z.literal('file'),
    mediaType: z.string().optional(),
    name: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('secret') }),
]);

/** The format of the arguments at a path; `*` stands for each item of a list. */
export interface FormattedPath {
  path: string[];
  format: FieldFormat;
}

/** The schema of `FormattedPath`. */
export const formattedPathSchema: z.ZodType<FormattedPath> = z.object({
  path: z.array(z.string()),
  format: fieldFormatSchema,
});

/** What the app says about a call beside its arguments: inert texts and values, never HTML. */
export type InboxDetail = TextDetail | ValueDetail | DiffDetail | LinkDetail;

interface TextDetail {
  /** A text. */
  type: 'text';
  /** What it is called. */
  label: string;
  /** The text itself. */
  text: string;
}

interface ValueDetail {
  /** Any JSON. */
  type: 'value';
  /** What it is called. */
  label: string;
  /** The value. */
  value?: unknown;
  /** How it is meant. */
  format?: FieldFormat | undefined;
}

interface DiffDetail {
  /** A text or file as it is now, and as the call would leave it. */
  type: 'diff';
  /** What it is called. */
  label: string;
  /** As it is now. */
  before: string;
  /** As the call would leave it. */
  after: string;
}

interface LinkDetail {
  /** A place in the app, or elsewhere. */
  type: 'link';
  /** What it is called. */
  label: string;
  /** An http(s) or mailto URL, or a path that begins with `/`. */
  url: string;
}

/** The schema of `InboxDetail`. */
export const detailSchema: z.ZodType<InboxDetail> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), label: z.string(), text: z.string() }),
  z.strictObject({
    type: z.literal('value'),
    label: z.string(),
    value: z.unknown(),
    format: fieldFormatSchema.optional(),
  }),
  z.strictObject({
    type: z.literal('diff'),
    label: z.string(),
    before: z.string(),
    after: z.string(),
  }),
  z.strictObject({ type: z.literal('link'), label: z.string(), url: z.string() }),
]);
