import type { ModelMessage } from 'ai';
import { messageIdOf } from './message-id.ts';
import { retractedMessages } from './retracted-messages.ts';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';

/** What happened from a message of the app to its next one. */
export interface MessageTurn {
  message: ModelMessage;
  events: readonly ThreadEvent[];
  /** The message that came next. */
  next: ModelMessage | undefined;
}

/** The turn of the message of an id; `undefined` for a message that the thread does not have. */
export function turnOfMessage(
  events: readonly ThreadEvent[],
  messageId: string,
): MessageTurn | undefined {
  const retracted = retractedMessages(events);
  const isKept = (event: ThreadEvent): boolean => isSaid(event) && !retracted.has(event);
  const begin = events.findIndex(
    (event) => isSaid(event) && messageIdOf(event.message) === messageId && isKept(event),
  );
  const said = events[begin];
  if (said?.type !== 'message-added') return undefined;
  const later = events.slice(begin + 1);
  const end = later.findIndex(isKept);
  const next = later[end];
  return {
    message: said.message,
    events: end === -1 ? later : later.slice(0, end),
    next: next?.type === 'message-added' ? next.message : undefined,
  };
}

/** Whether an event is a message from the app, and not what an answer to a question says. */
export function isSaid(event: ThreadEvent): event is ThreadEventOf<'message-added'> {
  return event.type === 'message-added' && event.place === undefined;
}
