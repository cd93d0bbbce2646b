import { z } from 'zod';
import { textAsSeen } from '../visible-text.ts';

/* What every message says of its call. */
const named = {
  group_id: z.string(),
  id: z.string(),
  call_id: z.string().nullish(),
};
/* The document has no upper limits; what is past these nobody reads, and it would stand in the log. */
const maximumEntries = 10_000;
const maximumFaultLength = 1_000;

function readable(maximumLength: number) {
  return z
    .string()
    .max(maximumLength)
    .refine((text) => textAsSeen(text) !== '', 'must not be blank');
}

/* Counted before its entries are looked at, each of which could be a fault. */
function listOf<ENTRY extends z.ZodType>(entry: ENTRY) {
  return z.array(z.unknown()).min(1).max(maximumEntries).pipe(z.array(entry));
}

const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    ...named,
    prompt: readable(16_384),
    choices: listOf(readable(1_024)).refine(
      (labels) => new Set(labels.map(textAsSeen)).size === labels.length,
      'must look different from each other',
    ),
    default: z.int().min(0),
    response_url: z.string().max(8_000),
  })
  .refine(({ default: index, choices }) => index < choices.length, {
    path: ['default'],
    message: 'must be an index into choices',
  });

const contentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mediaType: z.string() }),
]);

const toolResultSchema = z
  .object({
    type: z.literal('tool_result'),
    ...named,
    text: z.string().nullish(),
    content: listOf(contentSchema).nullish(),
  })
  .refine(({ text, content }) => typeof text === 'string' || Array.isArray(content), {
    message: 'must have text or content',
  });

/** A tool asks the person in front of the agent. What is not one of its fields is left out. */
export type UserChoiceMessage = z.infer<typeof userChoiceSchema>;
/** The one result of a call. */
export type ToolResultMessage = z.infer<typeof toolResultSchema>;
/** A piece of a result. */
export type ResultPart = z.infer<typeof contentSchema>;

const typedSchema = z.object({ type: z.string() });

/** A message of a tool server, or why it is none; `undefined` for a type that is not taken here. */
export function parseCallback(
  json: unknown,
): { message: UserChoiceMessage | ToolResultMessage } | { fault: string } | undefined {
  const { type } = typedSchema.safeParse(json).data ?? {};
  const schema = schemas.get(type);
  if (schema === undefined) return type === undefined ? { fault: 'It has no type.' } : undefined;
  const parsed = schema.safeParse(json);
  if (parsed.success) return { message: parsed.data };
  return { fault: z.prettifyError(parsed.error).slice(0, maximumFaultLength) };
}

const schemas = new Map<string | undefined, typeof userChoiceSchema | typeof toolResultSchema>([
  ['user_choice', userChoiceSchema],
  ['tool_result', toolResultSchema],
]);

/** Parts of a result, as they stand in the log. */
export const resultPartsSchema = z.array(contentSchema);
