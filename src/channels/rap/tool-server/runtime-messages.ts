import { z } from 'zod';
import { isPlainHttp } from '../url-checks.ts';

const idSchema = z.string().min(1).max(1_000);

/** What is needed to answer an invocation, whatever else is wrong with it. */
export const addressSchema = z.object({
  group_id: idSchema,
  id: idSchema,
  call_id: idSchema.nullish(),
  callback_url: z
    .string()
    .max(8_000)
    .refine(isOfTheWeb, 'must be an http(s) URL without a name and password'),
});

function isOfTheWeb(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isPlainHttp(url);
}

/** Where the result of a call goes. */
export type Address = z.infer<typeof addressSchema>;

/** What is to be run. */
export const orderSchema = z.object({
  operation: z.string(),
  arguments: z.unknown().optional(),
  thread_ancestors: z.array(z.string()).nullish(),
  user_id: z.string().nullish(),
});

/** A person's selection. */
export const selectionSchema = z.object({ id: z.string(), selected: z.int() });

/** The call that is not wanted any more, or that is asked about. */
export const namedCallSchema = z.object({ thread_id: z.string(), tool_call_id: z.string() });

/** A conversation is over. A signed message about one call can't be posted here by another to close its conversation. */
export const closeSchema = z.object({ thread_id: z.string(), tool_call_id: z.never().optional() });

/** The names that every callback about a call begins with. `call_id` is there when the invocation had one. */
export function namesOf({ group_id, id, call_id }: Address): {
  group_id: string;
  id: string;
  call_id?: string;
} {
  return { group_id, id, ...(typeof call_id === 'string' ? { call_id } : {}) };
}
