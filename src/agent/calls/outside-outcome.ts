import { z } from 'zod';
import type { ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { DeliveredOutcome } from '../agent-options.ts';
import { successOf } from './execute-call.ts';
import type { ToolDefinition } from './tool-definitions.ts';

const succeeded = z.strictObject({ status: z.literal('succeeded'), output: z.unknown() });
const failed = z.strictObject({ status: z.literal('failed'), error: z.string() });
const deliveredSchema = z.discriminatedUnion('status', [succeeded, failed]);
const settledSchema = z.discriminatedUnion('status', [
  succeeded,
  failed,
  z.strictObject({ status: z.literal('retry') }),
]);

/** An outcome from outside, parsed. Throws `invalid-input`. */
export function parseDelivered(outcome: unknown): z.infer<typeof deliveredSchema> {
  return parsed(deliveredSchema, outcome);
}

/** How a person settles a call, parsed. Throws `invalid-input`. */
export function parseSettled(outcome: unknown): z.infer<typeof settledSchema> {
  return parsed(settledSchema, outcome);
}

function parsed<OUTCOME>(schema: z.ZodType<OUTCOME>, outcome: unknown): OUTCOME {
  const result = schema.safeParse(outcome);
  if (result.success) return result.data;
  throw new HoldpointError(
    'invalid-input',
    `This is no outcome of a call: ${z.prettifyError(result.error)}`,
  );
}

/** An outcome from outside as the log keeps it, with what the tool wants the model to see. */
export async function recordedOutcome(
  definition: ToolDefinition | undefined,
  call: ToolCallRecord,
  outcome: DeliveredOutcome,
): Promise<ToolCallOutcome> {
  if (outcome.status === 'failed') return { status: 'failed', error: outcome.error };
  return successOf(definition?.tool, call, outcome.output);
}
