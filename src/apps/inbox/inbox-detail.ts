import { z } from 'zod';
import { type FieldFormat, fieldFormatSchema } from '../../view/field-format.ts';

/** The app's details about a call beside its arguments: inert texts and values, never HTML. */
export type InboxDetail = TextDetail | ValueDetail | DiffDetail | LinkDetail;

interface TextDetail {
  /** A text. */
  type: 'text';
  /** Its label. */
  label: string;
  /** The text itself. */
  text: string;
}

interface ValueDetail {
  /** Any JSON. */
  type: 'value';
  /** Its label. */
  label: string;
  /** The value. */
  value?: unknown;
  /** The format of the value. */
  format?: FieldFormat | undefined;
}

interface DiffDetail {
  /** A text or file, before and after the call. */
  type: 'diff';
  /** Its label. */
  label: string;
  /** The present text. */
  before: string;
  /** The text after the call. */
  after: string;
}

interface LinkDetail {
  /** A place in the app, or elsewhere. */
  type: 'link';
  /** Its label. */
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
