import { asSchema, type FlexibleSchema } from 'ai';
import { z } from 'zod';
import { readErrorText } from '../../content/error-text.ts';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import { copyAsLogged } from '../../thread/tagged-json.ts';
import { whyNotKey } from '../calls/request-key.ts';
import { requestedApprovalSchema } from '../calls/requested-approval.ts';
import type { CustomStep } from './custom-step.ts';

const tokens = z.number().optional();

/* The fields of a question are checked when it is made. */
const requestSchema = z.discriminatedUnion('type', [
  requestedApprovalSchema.extend({
    type: z.literal('approval-request'),
    text: z.string().regex(/\S/, 'must not be blank'),
  }),
  z.looseObject({ type: z.literal('question-request') }),
]);

const stepSchema = z.strictObject({
  text: z.string().optional(),
  toolCalls: z.array(z.strictObject({ toolName: z.string(), input: z.unknown() })).optional(),
  requests: z.custom<NonNullable<CustomStep['requests']>>().superRefine(refuseRequests).optional(),
  progress: z.unknown().optional(),
  continues: z.boolean().optional(),
  usage: z
    .looseObject({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens })
    .optional(),
});

/* By hand, because the schema of a record skips the key `__proto__`: that request would be lost. */
function refuseRequests(requests: unknown, context: z.RefinementCtx): void {
  const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!isPlainObject(requests)) return refuse('must be a plain object');
  for (const [key, request] of Object.entries(requests)) {
    const fault = key === '__proto__' ? 'A key must not be __proto__' : whyNotKey(key);
    if (fault !== undefined) refuse(fault);
    if (request === undefined) continue;
    const { error } = requestSchema.safeParse(request);
    if (error !== undefined) refuse(`request ${JSON.stringify(key)}: ${z.prettifyError(error)}`);
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * What the function returned, with a copy of its progress. Throws a `TypeError` for anything that could not be recorded, and for progress
 * that the next step could not read.
 */
export async function checkStep(
  returned: unknown,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<CustomStep> {
  const { success, data, error } = stepSchema.safeParse(returned);
  if (!success) {
    throw new TypeError(`The step of a custom agent is invalid: ${z.prettifyError(error)}`);
  }
  if (data.progress === undefined) return data;
  const progress = copyPresent(data.progress);
  const fault = whyNotStrictJson(progress);
  if (fault !== undefined) throw new TypeError(`The progress of a step must be JSON: ${fault}.`);
  const copy = copyAsLogged(progress);
  const mismatch = (await parseProgress(copy, schema)).error;
  if (mismatch !== undefined) {
    throw new TypeError(
      `The step of a custom agent is invalid: its progress does not match progressSchema: ${readErrorText(mismatch)}`,
      { cause: mismatch },
    );
  }
  return { ...data, progress: copy };
}

/** The progress as the schema parses it, or the schema's error. */
export async function parseProgress(
  progress: unknown,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<{ value: unknown; error?: Error }> {
  const value = structuredClone(progress);
  const result = schema && (await asSchema(schema).validate?.(value));
  if (result === undefined) return { value };
  return result.success ? { value: result.value } : { value, error: result.error };
}

/* A property that is undefined is absent, as in JSON. Anything that is not plain data is left for the check. */
function copyPresent(value: unknown, depth = 0): unknown {
  if (depth > 64) return value;
  if (Array.isArray(value)) return value.map((item) => copyPresent(item, depth + 1));
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, copyPresent(item, depth + 1)]));
}
