import type { ModelMessage } from 'ai';
import { z } from 'zod';

/**
 * A message of the AI SDK. Only its outline is validated here: before it was written, a message from outside was validated with the AI
 * SDK's own schema, and any other was made by the AI SDK itself.
 */
export const messageSchema = z.custom<ModelMessage>((value) => {
  if (typeof value !== 'object' || value === null) return false;
  if (!('role' in value && 'content' in value)) return false;
  const { role, content } = value;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') return false;
  return typeof content === 'string' || (Array.isArray(content) && content.every(isPart));
});

/** A message of an imported conversation. Only there are tool messages recorded: those of the thread are derived from its calls. */
export const importedMessageSchema = z.custom<ModelMessage>((value) => {
  if (messageSchema.safeParse(value).success) return true;
  if (typeof value !== 'object' || value === null) return false;
  if (!('role' in value && 'content' in value) || value.role !== 'tool') return false;
  return Array.isArray(value.content) && value.content.every(isPart);
});

function isPart(part: unknown): boolean {
  return (
    typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string'
  );
}
