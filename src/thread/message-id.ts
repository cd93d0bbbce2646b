import type { ModelMessage } from 'ai';

/**
 * What a client calls a user's message. It is kept in the message, where no provider looks (`providerOptions.holdpoint.messageId`), so
 * that a message which is sent again is recorded once.
 */
export function messageIdOf({ role, providerOptions }: ModelMessage): string | undefined {
  const messageId = providerOptions?.['holdpoint']?.['messageId'];
  return role === 'user' && typeof messageId === 'string' ? messageId : undefined;
}
