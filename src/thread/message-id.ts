import type { ModelMessage } from 'ai';
import { z } from 'zod';

const namedSchema = z.looseObject({ holdpoint: z.looseObject({ messageId: z.string() }) });

/**
 * What a client calls a user's message. It is kept in the message, where no provider looks (`providerOptions.holdpoint.messageId`), so
 * that a message which is sent again is recorded once.
 */
export function messageIdOf({ role, providerOptions }: ModelMessage): string | undefined {
  return role === 'user'
    ? namedSchema.safeParse(providerOptions).data?.holdpoint.messageId
    : undefined;
}
