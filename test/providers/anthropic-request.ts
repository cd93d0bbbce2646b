import { z } from 'zod';

const cacheControl = z.looseObject({}).optional();
const text = z.string().refine((said) => said.trim() !== '', 'text must not be blank');
const callId = z.string().regex(/^[\w-]+$/);

const textBlock = z.strictObject({
  type: z.literal('text'),
  text,
  citations: z.array(z.unknown()).optional(),
  cache_control: cacheControl,
});
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.looseObject({ type: z.string() }),
  cache_control: cacheControl,
});
const documentBlock = z.looseObject({
  type: z.literal('document'),
  source: z.looseObject({ type: z.string() }),
});
/* Text that a tool returned may be empty. */
const resultPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string(), cache_control: cacheControl }),
  imageBlock,
  documentBlock,
]);
const toolResultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: callId,
  content: z.union([z.string(), z.array(resultPart)]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
});
const thinkingBlock = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redactedThinkingBlock = z.strictObject({
  type: z.literal('redacted_thinking'),
  data: z.string().min(1),
});
const toolUseBlock = z.strictObject({
  type: z.literal('tool_use'),
  id: callId,
  name: z.string().regex(/^[\w-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
});

const userBlock = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  documentBlock,
  toolResultBlock,
]);
const assistantBlock = z.discriminatedUnion('type', [
  textBlock,
  thinkingBlock,
  redactedThinkingBlock,
  toolUseBlock,
]);
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([text, z.array(userBlock).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([text, z.array(assistantBlock).min(1)]),
  }),
]);

/** The body of an Anthropic messages request, as far as a conversation goes. */
export const anthropicRequestSchema = z.looseObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  stream: z.boolean().optional(),
  system: z.union([text, z.array(textBlock).min(1)]).optional(),
  messages: z.array(message).min(1),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        input_schema: z.looseObject({ type: z.literal('object') }),
      }),
    )
    .optional(),
});

/** A message of an Anthropic messages request. */
export type AnthropicMessage = z.infer<typeof message>;
/** A block of an assistant message. */
export type AssistantBlock = z.infer<typeof assistantBlock>;
/** A block of an assistant message that holds thinking, shown or hidden. */
export type ThinkingBlock = z.infer<typeof thinkingBlock | typeof redactedThinkingBlock>;
