import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import {
  importedMessages,
  isAppMessage,
  messageIdOf,
  retractedMessages,
} from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import { importedId } from '../output/user-ui-message.ts';
import { userUIMessage } from '../output/user-ui-message.ts';

/** How a user's message relates to the thread, which may have recorded it. It is found by the id that the page has for it. */
export type MessageState =
  | { type: 'new' }
  /** The thread recorded it at this revision. */
  | { type: 'recorded'; revision: number; hasReply: boolean }
  /** It replaces the message that the thread recorded at this revision, and those after it; or says again one that was withdrawn. */
  | { type: 'edit'; replaces: number };

/** How a user's message relates to the thread. Throws `invalid-input` for an edit of a message that has a reply. */
export function messageState(
  { id: threadId, events }: AgentThread,
  id: string,
  message: ModelMessage,
): MessageState {
  const imported = importedMessages(events).find(
    (each, index) => each.role === 'user' && importedId(threadId, each, index) === id,
  );
  if (imported !== undefined && writeContent(imported) === writeContent(message)) {
    return { type: 'recorded', revision: 2, hasReply: true };
  }
  if (imported !== undefined) throw notEditable();
  const retracted = retractedMessages(events);
  const index = indexOfId(events, retracted, id) ?? indexOfGeneratedId(threadId, id);
  const event = index === undefined ? undefined : events[index];
  if (index === undefined) return { type: 'new' };
  const isMessage = event !== undefined && isAppMessage(event);
  const later = events.slice(index + 1).filter((each) => !retracted.has(each));
  const hasReply = later.some(({ type }) => type === 'step-finished');
  const revision = index + 1;
  if (event !== undefined && retracted.has(event)) return { type: 'edit', replaces: revision };
  if (isMessage && writeContent(event.message) === writeContent(message)) {
    return { type: 'recorded', revision, hasReply };
  }
  if (isMessage && !hasReply) return { type: 'edit', replaces: revision };
  throw notEditable();
}

function notEditable(): HoldpointError {
  return new HoldpointError(
    'invalid-input',
    "This message is part of the record and can't be edited; send a new message.",
  );
}

/* Where `toUIMessages` found the message for which it generated this id. */
function indexOfGeneratedId(threadId: string, id: string): number | undefined {
  const suffix = id.startsWith(`${threadId}:`) ? id.slice(threadId.length) : '';
  const [, revision] = /^:(\d+):user$/.exec(suffix) ?? [];
  return revision === undefined ? undefined : Number(revision) - 1;
}

function indexOfId(
  events: readonly ThreadEvent[],
  retracted: ReadonlySet<ThreadEvent>,
  id: string,
): number | undefined {
  const isMeant = (event: ThreadEvent): boolean =>
    event.type === 'message-added' && messageIdOf(event.message) === id;
  const kept = events.findLastIndex((event) => isMeant(event) && !retracted.has(event));
  const index = kept === -1 ? events.findLastIndex(isMeant) : kept;
  return index === -1 ? undefined : index;
}

/* Its content as a page has it: without ids and provider options. */
function writeContent(message: ModelMessage): string {
  return JSON.stringify(userUIMessage(message, ''));
}
