import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import type { ClientMessage } from './run-agent-input.ts';
import { userContent } from './user-content.ts';

/**
 * What a client says that may be news: the user's messages at the end of its list, each under its id there, by which the thread
 * knows those that it has. Nothing else in the list counts. Throws `invalid-input` for what is no message.
 */
export function newMessages(messages: readonly ClientMessage[], threadId: string): ModelMessage[] {
  const last = messages.findLastIndex(({ role }) => role !== 'user');
  /* Ids of this form were given here, to messages that came another way. */
  const own = `${threadId}:`;
  return messages
    .slice(last + 1)
    .filter(({ id }) => !id.startsWith(own))
    .map(({ id, content }) => {
      const said = userContent(content);
      if (said !== undefined && isId(id)) {
        return {
          role: 'user',
          content: said,
          providerOptions: { holdpoint: { messageId: id } },
        };
      }
      throw new HoldpointError('invalid-input', 'A message of the user is none of AG-UI.');
    });
}

function isId(id: string): boolean {
  return id.length > 0 && id.length <= 256 && id.isWellFormed();
}
