import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import { renderSchemaError } from '../../json/field-fault.ts';
import { parsePlainHttp } from './url-checks.ts';

/* The messages of a runtime to a tool server. */

const idSchema = z.string().min(1).max(1_000);

/** The schema of a call's ids, its user, and its callback URL: enough to send a result, even if the rest of the invocation is invalid. */
export const callAddressSchema = z.object({
  group_id: idSchema,
  id: idSchema,
  call_id: idSchema.nullish(),
  user_id: z.string().max(1_000).nullish(),
  /** Sent by holdpoint: a digest of all requesters, where they are not one user with an id. */
  requesters_digest: idSchema.nullish(),
  callback_url: z
    .string()
    .max(8_000)
    .refine(
      (text) => parsePlainHttp(text) !== undefined,
      'must be an http(s) URL without a user name and password',
    ),
});

/** The ids of a call, its user, and the URL for its callbacks. */
export type CallAddress = z.infer<typeof callAddressSchema>;

/** The tool to run and its arguments. */
export const invocationSchema = z.object({
  operation: z.string(),
  arguments: z.unknown().optional(),
  thread_ancestors: boundList(z.string(), 1_000).nullish(),
});

/** A person's selection. */
export const selectionSchema = z.object({ id: z.string(), selected: z.int() });

/* Where nothing is signed, the callback URL identifies the owner of the calls; with a user, only that user's calls are meant. */
const ownerFields = { callback_url: z.string().nullish(), user_id: z.string().nullish() };

/** The owner of the calls that a message is about. */
export type NamedOwner = { [FIELD in keyof typeof ownerFields]?: string | null | undefined };

/** The call to cancel, or to report the status of. */
export const callNameSchema = z.object({
  thread_id: z.string(),
  tool_call_id: z.string(),
  ...ownerFields,
});

/** The conversation to close. With a `tool_call_id` it is invalid: a signed cancellation must not be replayed to close a conversation. */
export const closeSchema = z.object({
  thread_id: z.string(),
  tool_call_id: z.never().optional(),
  ...ownerFields,
});

/** The ids with which every callback names its call; `call_id` only if the invocation had one. */
export function pickCallIds({ group_id, id, call_id }: CallAddress): {
  group_id: string;
  id: string;
  call_id?: string;
} {
  return { group_id, id, ...(typeof call_id === 'string' ? { call_id } : {}) };
}

/* The messages of a tool server to a runtime. */

/* The fields by which every message names its call. */
const named = {
  group_id: z.string(),
  id: z.string(),
  call_id: z.string().nullish(),
};
/* The protocol has no upper limits. Nobody reads more than this, and the log would store it. */
const maximumEntries = 10_000;

function makeReadableSchema(maximumLength: number) {
  return z
    .string()
    .max(maximumLength)
    .refine((text) => normalizeVisible(text) !== '', 'must not be blank');
}

function makeEntriesSchema<ENTRY>(entry: z.ZodType<ENTRY>) {
  return boundList(entry, maximumEntries).refine(
    (entries) => entries.length > 0,
    'must not be empty',
  );
}

const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    ...named,
    prompt: makeReadableSchema(16_384),
    choices: makeEntriesSchema(makeReadableSchema(1_024)).refine(
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

const textPart = { type: z.literal('text'), text: z.string() };
/** `data` is base64. */
const imagePart = { type: z.literal('image'), data: z.string(), mediaType: z.string() };

const partSchema = z.discriminatedUnion('type', [z.object(textPart), z.object(imagePart)]);
/** A part of a result. */
export type ResultPart = z.infer<typeof partSchema>;
/** The parts of a result, as they are stored in the log. */
export const resultPartsSchema = z.array(partSchema);

/** The output of a tool that is sent as content parts: exactly these, as anything else is sent as its JSON. */
export const contentSchema = z.strictObject({
  content: z
    .array(z.discriminatedUnion('type', [z.strictObject(textPart), z.strictObject(imagePart)]))
    .min(1),
});

const toolResultSchema = z
  .object({
    type: z.literal('tool_result'),
    ...named,
    text: z.string().nullish(),
    content: makeEntriesSchema(partSchema).nullish(),
  })
  .refine(({ text, content }) => typeof text === 'string' || Array.isArray(content), {
    message: 'must have text or content',
  });

/** A tool asks the person at the agent. Unknown fields are dropped. */
export type UserChoiceMessage = z.infer<typeof userChoiceSchema>;
/** The result of a call. */
export type ToolResultMessage = z.infer<typeof toolResultSchema>;

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
  return { fault: renderSchemaError(parsed.error) };
}

const schemas = new Map<string | undefined, typeof userChoiceSchema | typeof toolResultSchema>([
  ['user_choice', userChoiceSchema],
  ['tool_result', toolResultSchema],
]);

/**
 * Normalizes a text to what people see: without invisible characters, and without differences in spaces or in the composition of letters.
 */
export function normalizeVisible(text: string): string {
  return text
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .trim();
}

/** Checks whether no two labels look the same. */
export function lookDifferent(labels: readonly string[]): boolean {
  return new Set(labels.map(normalizeVisible)).size === labels.length;
}
