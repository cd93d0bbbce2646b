import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { withMessageId } from '../../thread/app-messages.ts';
import type { ClientMessage } from './run-agent-input.ts';
import { retractedIds, userMessage } from './thread-messages.ts';
import { userContent } from './user-content.ts';

/**
 * What a client says that may be news: the user's messages below the last that the agent said, each under its id there, by which the
 * thread knows those that it has, and those that were withdrawn, which are not said again. Nothing else in the list counts. Throws `invalid-input` for what is no message, and where an id is
 * another message's: none is left out unsaid.
 */
export function newMessages(
  messages: readonly ClientMessage[],
  thread: AgentThread,
): ModelMessage[] {
  const said = newest(messages).filter(({ role }) => role === 'user');
  refuseSharedIds(said);
  const own = ownIds(said, thread);
  const retracted = retractedIds(thread);
  return said
    .filter(({ id }) => !own.has(id) && !retracted.has(id))
    .map(({ id, content }) => {
      const parsed = userContent(content);
      if (parsed !== undefined && isId(id, thread.id)) {
        return withMessageId({ role: 'user', content: parsed }, id);
      }
      throw new HoldpointError('invalid-input', 'A message of the user is none of AG-UI.');
    });
}

/** What stands in a client's list below the last message of the agent. Clients put notes of their own, and results, beside what a user says. */
export function newest(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function refuseSharedIds(said: readonly ClientMessage[]): void {
  const contents = new Map<string, string | undefined>();
  for (const { id, content } of said) {
    const text = JSON.stringify(content);
    if (contents.has(id) && contents.get(id) !== text) {
      throw new HoldpointError('invalid-input', `Two messages have the id ${JSON.stringify(id)}.`);
    }
    contents.set(id, text);
  }
}

/** The ids that the thread gave to messages which came another way. */
function ownIds(said: readonly ClientMessage[], { id, events }: AgentThread): Set<string> {
  if (!said.some((message) => isOwn(message.id, id))) return new Set();
  const shown = [...events.keys()].flatMap((index) => userMessage(id, events, index));
  return new Set(shown.map((message) => message.id).filter((each) => isOwn(each, id)));
}

/* Ids of this form are given here. */
function isOwn(id: string, threadId: string): boolean {
  return id.startsWith(`${threadId}:`);
}

function isId(id: string, threadId: string): boolean {
  return id.length > 0 && id.length <= 256 && id.isWellFormed() && !isOwn(id, threadId);
}
