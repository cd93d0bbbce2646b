import {
  assistantModelMessageSchema,
  convertToModelMessages,
  type ModelMessage,
  safeValidateUIMessages,
  systemModelMessageSchema,
  toolModelMessageSchema,
  userModelMessageSchema,
} from 'ai';

/** The AI SDK's schemas of messages that are accepted from outside. */
export const inputMessageSchemas = {
  user: userModelMessageSchema,
  system: systemModelMessageSchema,
};

/** The AI SDK's schemas of messages in a conversation that is imported. */
export const importedMessageSchemas = {
  ...inputMessageSchemas,
  assistant: assistantModelMessageSchema,
  tool: toolModelMessageSchema,
};

/** A UI message as messages for the model, with its id. Throws for an invalid one. */
export async function convertFromUIMessage(
  message: unknown,
): Promise<{ id: string; role: string; messages: ModelMessage[] }> {
  const validated = await safeValidateUIMessages({ messages: [message] });
  if (!validated.success) throw validated.error;
  const [valid = { id: '', role: 'user' as const, parts: [] }] = validated.data;
  return { id: valid.id, role: valid.role, messages: await convertToModelMessages([valid]) };
}
