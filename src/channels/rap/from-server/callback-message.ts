import type { DeliveredOutcome } from '../../../agent/input.ts';
import { z } from 'zod';
import { lookDifferent, normalizeVisible } from '../visible-text.ts';
import type { ToolResultPart } from 'ai';

/* The fields by which every message names its call. */
const named = {
  group_id: z.string(),
  id: z.string(),
  call_id: z.string().nullish(),
};
/* The protocol has no upper limits. Nobody would read more than this, and the log would store it. */
const maximumEntries = 10_000;
const maximumFaultLength = 1_000;

function makeReadableSchema(maximumLength: number) {
  return z
    .string()
    .max(maximumLength)
    .refine((text) => normalizeVisible(text) !== '', 'must not be blank');
}

/* Counted before the entries are parsed: each of them could add an issue. */
function makeListSchema<ENTRY extends z.ZodType>(entry: ENTRY) {
  return z.array(z.unknown()).min(1).max(maximumEntries).pipe(z.array(entry));
}

const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    ...named,
    prompt: makeReadableSchema(16_384),
    choices: makeListSchema(makeReadableSchema(1_024)).refine(
      lookDifferent,
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
    content: makeListSchema(contentSchema).nullish(),
  })
  .refine(({ text, content }) => typeof text === 'string' || Array.isArray(content), {
    message: 'must have text or content',
  });

/** A tool asks the person at the agent. Unknown fields are dropped. */
export type UserChoiceMessage = z.infer<typeof userChoiceSchema>;
/** The result of a call. */
export type ToolResultMessage = z.infer<typeof toolResultSchema>;
/** A part of a result. */
type ResultPart = z.infer<typeof contentSchema>;

const typedSchema = z.object({ type: z.string() });

/** A message of a tool server, or the fault of an invalid one; `undefined` for a type that is not supported. */
export function parseCallback(
  json: unknown,
): { message: UserChoiceMessage | ToolResultMessage } | { fault: string } | undefined {
  const { type } = typedSchema.safeParse(json).data ?? {};
  const schema = schemas.get(type);
  if (schema === undefined) return type === undefined ? { fault: '`type` is missing' } : undefined;
  const parsed = schema.safeParse(json);
  if (parsed.success) return { message: parsed.data };
  return { fault: z.prettifyError(parsed.error).slice(0, maximumFaultLength) };
}

const schemas = new Map<string | undefined, typeof userChoiceSchema | typeof toolResultSchema>([
  ['user_choice', userChoiceSchema],
  ['tool_result', toolResultSchema],
]);

/** The parts of a result, as they are stored in the log. */
const resultPartsSchema = z.array(contentSchema);

const errorPrefix = 'Error: ';

/** The outcome that a `tool_result` reports. `content` takes precedence over `text`; a text that begins with `Error: ` is a failure. */
export function toResultOutcome({ text, content }: ToolResultMessage): DeliveredOutcome {
  const parts: ResultPart[] = content ?? [{ type: 'text', text: text ?? '' }];
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  if (!texts.includes(undefined) && texts[0]?.startsWith(errorPrefix) === true) {
    return { status: 'failed', error: texts.join('\n') };
  }
  return { status: 'succeeded', output: content ?? text };
}

/** A result in the form that the model reads. */
export function toModelResultOutput(output: unknown): ToolResultPart['output'] {
  if (typeof output === 'string') return { type: 'text', value: output };
  return { type: 'content', value: resultPartsSchema.parse(output).map(toModelPart) };
}

type ModelPart = Extract<ToolResultPart['output'], { type: 'content' }>['value'][number];

function toModelPart(part: ResultPart): ModelPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, mediaType } = part;
  return { type: 'file', data: { type: 'data', data }, mediaType };
}
