import { z } from 'zod';

/* What every message says of its call. */
const named = {
  group_id: z.string(),
  id: z.string(),
  call_id: z.string().nullish(),
};
const readable = z.string().refine((text) => text.trim() !== '', 'must not be blank');

const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    ...named,
    prompt: readable,
    choices: z
      .array(readable)
      .min(1)
      .refine((labels) => new Set(labels).size === labels.length, 'must differ from each other'),
    default: z.int().min(0),
    response_url: z.string(),
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
    content: z.array(contentSchema).min(1).nullish(),
  })
  .refine(({ text, content }) => typeof text === 'string' || Array.isArray(content), {
    message: 'must have text or content',
  });

/** A tool asks the person in front of the agent (seed 000). What is not one of its fields is left out. */
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
  return parsed.success ? { message: parsed.data } : { fault: z.prettifyError(parsed.error) };
}

const schemas = new Map<string | undefined, typeof userChoiceSchema | typeof toolResultSchema>([
  ['user_choice', userChoiceSchema],
  ['tool_result', toolResultSchema],
]);

/** Parts of a result, as they stand in the log. */
export const resultPartsSchema = z.array(contentSchema);
