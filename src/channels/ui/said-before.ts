import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { messageIdOf } from '../../thread/message-id.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { userUIMessage } from './user-ui-message.ts';

/**
 * The revision at which a thread took a user's message, by the id that the page has for it; `undefined` for a message that is new.
 * Throws `invalid-input` where the id is another message's: words are taken or refused, and never dropped unsaid.
 */
export function saidBefore(
  { id: threadId, events }: AgentThread,
  id: string,
  message: ModelMessage,
): number | undefined {
  const index = givenIndex(threadId, id) ?? ownIndex(events, id);
  if (index === undefined) return undefined;
  const event = events[index];
  if (event?.type === 'message-added' && wordsOf(event.message) === wordsOf(message)) {
    return index + 1;
  }
  throw new HoldpointError(
    'invalid-input',
    `The id ${JSON.stringify(id)} is another message's: what was said is not edited, say it under an id of its own.`,
  );
}

/* Where the message is that was given an id of this form, as `toUIMessages` gives it. */
function givenIndex(threadId: string, id: string): number | undefined {
  const own = id.startsWith(`${threadId}:`) ? id.slice(threadId.length) : '';
  const [, revision] = /^:(\d+):user$/.exec(own) ?? [];
  return revision === undefined ? undefined : Number(revision) - 1;
}

function ownIndex(events: readonly ThreadEvent[], id: string): number | undefined {
  const index = events.findLastIndex(
    (event) => event.type === 'message-added' && messageIdOf(event.message) === id,
  );
  return index === -1 ? undefined : index;
}

function wordsOf(message: ModelMessage): string {
  return JSON.stringify(userUIMessage(message, ''));
}
