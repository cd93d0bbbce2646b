import { z } from 'zod';
import { jsonText } from './check-request.ts';

const functionName = z.string().regex(/^[\w-]{1,64}$/);
const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const textContent = z.union([z.string(), z.array(textPart).min(1)]);
const userPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
  z.strictObject({ type: z.literal('input_audio'), input_audio: z.looseObject({}) }),
  z.strictObject({ type: z.literal('file'), file: z.looseObject({}) }),
]);
const toolCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal('function'),
  function: z.strictObject({ name: functionName, arguments: jsonText }),
});

const assistantMessage = z
  .strictObject({
    role: z.literal('assistant'),
    content: textContent.nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    /** Not OpenAI's own: what servers of the same API with thinking models give, and want back. */
    reasoning_content: z.string().optional(),
  })
  .refine(
    ({ content, tool_calls: calls }) => calls !== undefined || Boolean(content),
    'an assistant message needs content or tool calls',
  );

const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: textContent }),
  z.strictObject({ role: z.literal('developer'), content: textContent }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(userPart).min(1)]),
  }),
  assistantMessage,
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: z.string().min(1),
    content: textContent,
  }),
]);

/** The body of a chat completions request, as far as a conversation goes. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  stream: z.boolean().optional(),
  messages: z.array(chatMessage).min(1),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.looseObject({ name: functionName }),
      }),
    )
    .min(1)
    .optional(),
});

/** A message of a chat completions request. */
export type ChatMessage = z.infer<typeof chatMessage>;
