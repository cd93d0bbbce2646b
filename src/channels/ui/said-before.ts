import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { messageIdOf, retractedMessages } from '../../thread/app-messages.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import { userUIMessage } from './user-ui-message.ts';

/** What a thread knows of a user's message, by the id that the page has for it. */
export type SaidBefore =
  | { type: 'new' }
  /** The thread took it at this revision; with `stopped`, its reply was stopped before the first word. */
  | { type: 'said-before'; revision: number; stopped?: RecordedMessage }
  /** It takes the place of a message that has no reply, and of those after it; the last one first. */
  | { type: 'edit'; replaces: RecordedMessage[] };

/** A message of the thread that can be withdrawn; `messageId` is what the thread knows it by, if it has an id. */
export interface RecordedMessage {
  messageId: string | undefined;
}

/** What a thread knows of a message. Throws `invalid-input` for an edit of a message that has a reply: what is recorded stays. */
export function saidBefore(
  { id: threadId, events }: AgentThread,
  id: string,
  message: ModelMessage,
): SaidBefore {
  const retracted = retractedMessages(events);
  const index = ownIndex(events, retracted, id) ?? givenIndex(threadId, id);
  const event = index === undefined ? undefined : events[index];
  if (index === undefined || (event !== undefined && retracted.has(event))) return { type: 'new' };
  const isMessage = event?.type === 'message-added' && event.place === undefined;
  const later = events.slice(index + 1).filter((each) => !retracted.has(each));
  const hasReply = later.some(({ type }) => type === 'step-finished');
  const next = later
    .filter((each) => each.type === 'message-added')
    .filter(({ place }) => place === undefined);
  if (isMessage && wordsOf(event.message) === wordsOf(message)) {
    const said = { type: 'said-before' as const, revision: index + 1 };
    const isUnsaid = !hasReply && next.length === 0 && isStopped(later);
    return isUnsaid ? { ...said, stopped: recorded(event) } : said;
  }
  if (isMessage && !hasReply) {
    return { type: 'edit', replaces: [event, ...next].map(recorded).toReversed() };
  }
  throw new HoldpointError(
    'invalid-input',
    "This message is part of the record and can't be edited; send a new message.",
  );
}

/* Where the message is that was given an id of this form, as `toUIMessages` gives it. */
function givenIndex(threadId: string, id: string): number | undefined {
  const own = id.startsWith(`${threadId}:`) ? id.slice(threadId.length) : '';
  const [, revision] = /^:(\d+):user$/.exec(own) ?? [];
  return revision === undefined ? undefined : Number(revision) - 1;
}

function ownIndex(
  events: readonly ThreadEvent[],
  retracted: ReadonlySet<ThreadEvent>,
  id: string,
): number | undefined {
  const index = events.findLastIndex(
    (event) =>
      event.type === 'message-added' && messageIdOf(event.message) === id && !retracted.has(event),
  );
  return index === -1 ? undefined : index;
}

function isStopped(events: readonly ThreadEvent[]): boolean {
  return events.findLast((event) => event.type === 'run-ended')?.stopped === true;
}

function recorded({ message }: ThreadEventOf<'message-added'>): RecordedMessage {
  return { messageId: messageIdOf(message) };
}

function wordsOf(message: ModelMessage): string {
  return JSON.stringify(userUIMessage(message, ''));
}
