import { z } from 'zod';
import { isPlainHttp } from '../url-checks.ts';

const idSchema = z.string().min(1).max(1_000);

/** The ids of a call, its user, and the URL for its callbacks: enough to send a result, even if the rest of the invocation is invalid. */
export const callAddressSchema = z.object({
  group_id: idSchema,
  id: idSchema,
  call_id: idSchema.nullish(),
  user_id: z.string().max(1_000).nullish(),
  /** From holdpoint: a digest of everybody for whom the call is made, where they are not one user with an id. */
  requesters_digest: idSchema.nullish(),
  callback_url: z
    .string()
    .max(8_000)
    .refine(isHttpUrl, 'must be an http(s) URL without a user name and password'),
});

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isPlainHttp(url);
}

/** The ids of a call, its user, and the URL for its callbacks. */
export type CallAddress = z.infer<typeof callAddressSchema>;

/** The tool to run and its arguments. */
export const invocationSchema = z.object({
  operation: z.string(),
  arguments: z.unknown().optional(),
  thread_ancestors: z.array(z.string()).nullish(),
});

/** A person's selection. */
export const selectionSchema = z.object({ id: z.string(), selected: z.int() });

/* Where nothing is signed, the callback URL says whose calls a message is about; with a user, it is about that user's alone. */
const ownerFields = { callback_url: z.string().nullish(), user_id: z.string().nullish() };

/** Whose calls a message is about. */
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
export function callIds({ group_id, id, call_id }: CallAddress): {
  group_id: string;
  id: string;
  call_id?: string;
} {
  return { group_id, id, ...(typeof call_id === 'string' ? { call_id } : {}) };
}
