import { z } from 'zod';
import { jsonText } from './check-request.ts';

const contentPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({ type: z.literal('output_text'), text: z.string() }),
  z.looseObject({ type: z.literal('input_image') }),
  z.looseObject({ type: z.literal('input_file') }),
]);
const status = z.string().optional();
const callId = z.string().min(1).max(64);

const inputItem = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('message'),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: z.union([z.string(), z.array(contentPart).min(1)]),
    id: z.string().optional(),
    status,
    phase: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    call_id: callId,
    name: z.string().regex(/^[\w-]{1,64}$/),
    arguments: jsonText,
    id: z.string().optional(),
    status,
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: callId,
    output: z.union([z.string(), z.array(contentPart).min(1)]),
    id: z.string().optional(),
    status,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().min(1),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string().nullish(),
    status,
  }),
  z.strictObject({ type: z.literal('item_reference'), id: z.string().min(1) }),
  z.strictObject({
    type: z.literal('mcp_approval_response'),
    approval_request_id: z.string().min(1),
    approve: z.boolean(),
    reason: z.string().nullish(),
  }),
]);

/** The body of a Responses request, as far as a conversation goes that the client carries itself. */
export const responsesRequestSchema = z.looseObject({
  model: z.string().min(1),
  stream: z.boolean().optional(),
  store: z.boolean().default(true),
  include: z.array(z.string()).default([]),
  previous_response_id: z.null().optional(),
  conversation: z.null().optional(),
  input: z.array(z.preprocess(withType, inputItem)).min(1),
});

/** An item of a Responses request. */
export type InputItem = z.infer<typeof inputItem>;

/** A message may leave its type out. */
function withType(item: unknown): unknown {
  const isMessage = typeof item === 'object' && item !== null && 'role' in item;
  return isMessage ? { type: 'message', ...item } : item;
}
