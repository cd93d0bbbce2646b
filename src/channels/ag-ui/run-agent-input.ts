import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import { renderSchemaError } from '../../json/field-fault.ts';
import { HoldpointError } from '../../errors.ts';

const id = z.string().min(1).max(256);

const callSchema = z
  .object({ name: z.string(), arguments: z.string() })
  .optional()
  .catch(undefined);
const messageSchema = z.object({
  id: z.string(),
  role: z.string(),
  content: z.unknown().optional(),
  toolCallId: z.string().optional(),
  error: z.string().optional(),
  toolCalls: boundList(z.object({ id: z.string(), function: callSchema }), 1_000).optional(),
});
const resumeEntrySchema = z.object({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
/* Other fields of newer clients are ignored, as the protocol demands; so are the client's tools and context. */
const inputSchema = z.object({
  threadId: z.string(),
  runId: id,
  messages: boundList(messageSchema, 10_000),
  state: z.unknown().optional(),
  forwardedProps: z.unknown().optional(),
  resume: boundList(resumeEntrySchema, 1_000).optional(),
  /* Clients before 1.0 send none. */
  protocolVersion: z.string().optional(),
});
const forwardedSchema = z.object({
  interactionResponse: z.unknown().optional(),
  interaction_response: z.unknown().optional(),
  whilePending: z.enum(['refuse', 'cancel']).optional().catch(undefined),
  resumeStopped: z.literal(true).optional().catch(undefined),
});

/** A message as a client has it. It proves nothing about the thread. */
export type ClientMessage = z.infer<typeof messageSchema>;
/** A client's answer to an interrupt. */
export type ResumeEntry = z.infer<typeof resumeEntrySchema>;

/** The body of a client's `POST`. */
export interface RunAgentInput extends Omit<
  z.infer<typeof inputSchema>,
  'forwardedProps' | 'resume'
> {
  resume: ResumeEntry[];
  /** The answer to an interaction, in either spelling. */
  interactionResponse: unknown;
  /** The effect of a new message on open requests and deferred calls: cancel them, or be refused while there are any. */
  whilePending: 'refuse' | 'cancel';
  /** True to resume a turn that was stopped before its reply. */
  resumeStopped: boolean;
}

/** Parses the body of a client's `POST`. Throws `invalid-input`. */
export function parseRunAgentInput(json: unknown): RunAgentInput {
  const parsed = inputSchema.safeParse(json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `The body is not a valid RunAgentInput: ${renderSchemaError(parsed.error)}`,
    );
  }
  const { forwardedProps, resume = [], ...input } = parsed.data;
  const {
    interactionResponse,
    interaction_response,
    whilePending = 'refuse',
    resumeStopped = false,
  } = forwardedSchema.safeParse(forwardedProps).data ?? {};
  const responses = [interactionResponse, interaction_response].filter(
    (each) => each !== undefined && each !== null,
  );
  if (responses.length > 1) {
    throw new HoldpointError(
      'invalid-input',
      'forwardedProps has an interactionResponse and an interaction_response; send one.',
    );
  }
  return { ...input, resume, interactionResponse: responses[0], whilePending, resumeStopped };
}
