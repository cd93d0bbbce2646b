import type { ModelMessage } from 'ai';

/** The message with an id of its client's. */
export function named(message: ModelMessage, messageId: string): ModelMessage {
  const { providerOptions } = message;
  const holdpoint = { ...providerOptions?.['holdpoint'], messageId };
  return { ...message, providerOptions: { ...providerOptions, holdpoint } };
}

/**
 * What a client calls a user's message. It is kept in the message, where no provider looks (`providerOptions.holdpoint.messageId`), so
 * that a message which is sent again is recorded once.
 */
export function messageIdOf({ role, providerOptions }: ModelMessage): string | undefined {
  const messageId = providerOptions?.['holdpoint']?.['messageId'];
  return role !== 'assistant' && typeof messageId === 'string' ? messageId : undefined;
}
