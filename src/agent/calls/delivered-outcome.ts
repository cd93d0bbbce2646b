import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { restoreForm } from '../../json/json-form.ts';
import type { ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { makeOutcome } from './execute-call.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** The outcome of a call, delivered from outside. `output` must be JSON. */
export type DeliveredOutcome = DeliveredSuccess | DeliveredFailure;

interface DeliveredSuccess {
  /** The call had its effect. */
  status: 'succeeded';
  /** The output, as JSON. The model receives it. */
  output: unknown;
}

interface DeliveredFailure {
  /** The call failed, and can no longer happen. */
  status: 'failed';
  /** The reason. The model receives it. */
  error: string;
}

/** The outcome that settles an indeterminate call; `retry` is a new approval of the same call. */
export type SettledOutcome = DeliveredOutcome | Retry;

interface Retry {
  /** The call did not happen: it is made again. */
  status: 'retry';
}

const succeeded = z.strictObject({ status: z.literal('succeeded'), output: z.unknown() });
const failed = z.strictObject({ status: z.literal('failed'), error: z.string() });
const deliveredSchema = z.discriminatedUnion('status', [succeeded, failed]);
const settledSchema = z.discriminatedUnion('status', [
  succeeded,
  failed,
  z.strictObject({ status: z.literal('retry') }),
]);

/** Parses an outcome from outside. Throws `invalid-input`. */
export function parseDelivered(outcome: unknown): z.infer<typeof deliveredSchema> {
  return parseOutcome(deliveredSchema, outcome);
}

/** Parses the outcome that settles a call. Throws `invalid-input`. */
export function parseSettled(outcome: unknown): z.infer<typeof settledSchema> {
  return parseOutcome(settledSchema, outcome);
}

function parseOutcome<OUTCOME>(schema: z.ZodType<OUTCOME>, outcome: unknown): OUTCOME {
  const result = schema.safeParse(outcome);
  if (result.success) return result.data;
  throw new HoldpointError(
    'invalid-input',
    `Not a valid call outcome: ${renderSchemaError(result.error)}`,
  );
}

/** An outcome from outside as it is recorded, with the tool's `toModelOutput`. */
export async function makeRecordedOutcome(
  definition: ToolDefinition | undefined,
  call: ToolCallRecord,
  outcome: DeliveredOutcome,
): Promise<ToolCallOutcome> {
  if (outcome.status === 'failed') return { status: 'failed', error: outcome.error };
  const { toolCallId, input: json, inputTypes: types } = call;
  return makeOutcome(
    definition?.tool,
    { toolCallId, input: restoreForm({ json, types }) },
    outcome.output,
  );
}
