import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';

/** The format of an argument, as a tool's schema or the app declares it. Nothing is guessed from a value. */
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
  /** True if the amount is in the currency's unit, or in its smallest one, such as cents. */
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
  /** A value that must not be shown. It is masked before it leaves the server, and counted. */
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

/** The formats of arguments, by tool, as the app declares them beside the tools' schemas. */
export type ToolFormats = Readonly<
  Record<string, readonly { path: readonly string[]; format: FieldFormat }[]>
>;

/** Throws a `TypeError` for formats of an app that are not valid. */
export function checkFormats(formats: ToolFormats = {}): void {
  const { success, error } = z.record(z.string(), z.array(formattedPathSchema)).safeParse(formats);
  if (!success) throw new TypeError(`formats is not valid: ${renderSchemaError(error)}`);
}
