import { z } from 'zod';

/** The reason why something that a person entered is not accepted. */
export interface FieldFault {
  /** The path to the field; absent if the fault is of the whole. */
  field?: readonly string[] | undefined;
  /** The reason, in words that follow the name of the field. They repeat no value, as they may be logged, and shown to others. */
  reason: string;
}

/** A fault as one text: `field "price" is not answered`. */
export function renderFieldFault({ field, reason }: FieldFault): string {
  return field === undefined ? reason : `field ${JSON.stringify(field.join('.'))} ${reason}`;
}

const longestReason = 300;

/*
 * A path has keys, or objects that have them. Converted below: a bundler would keep a transformed schema in everything that imports the
 * content.
 */
const keySchema = z.union([z.string(), z.number()]);
const segmentSchema = z.union([keySchema, z.object({ key: keySchema })]);
const issueSchema = z.object({ path: z.array(segmentSchema).default([]), message: z.string() });
/* A value from outside may have hundreds of thousands of faults. */
const issuesSchema = z.tuple([issueSchema]).rest(z.unknown());
const errorSchema = z.object({ issues: z.unknown().optional(), cause: z.unknown().optional() });

/** The first issue of a schema's error, which has them itself or as its cause. `undefined` for an error without issues. */
export function readSchemaFault(error: unknown): FieldFault | undefined {
  const { issues, cause } = errorSchema.safeParse(error).data ?? {};
  const found =
    issuesSchema.safeParse(issues).data ??
    issuesSchema.safeParse(cause).data ??
    issuesSchema.safeParse(errorSchema.safeParse(cause).data?.issues).data;
  const [first] = found ?? [];
  if (first === undefined) return undefined;
  const { path, message } = first;
  const reason = cutFault(message, longestReason);
  return { ...(path.length === 0 ? {} : { field: path.map(readKey) }), reason };
}

function readKey(segment: z.infer<typeof segmentSchema>): string {
  return String(typeof segment === 'object' ? segment.key : segment);
}

/** Cuts a text that may quote what was sent, for its sender. */
export function cutFault(text: string, longest = 2_000): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

const mostIssues = 10;

/** Describes a schema's issues to the sender of the value: the first ones only, because the sender controls their number and texts. */
export function renderSchemaError({ issues }: z.core.$ZodError): string {
  return cutFault(z.prettifyError({ issues: issues.slice(0, mostIssues) }), 1_000);
}
