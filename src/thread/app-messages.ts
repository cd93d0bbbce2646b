import type { ModelMessage } from 'ai';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';

/** The message with an id of its client's. */
export function withMessageId(message: ModelMessage, messageId: string): ModelMessage {
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

/** The `message-added` events whose message was withdrawn later: it is not in the history, and nobody is shown it. */
export function retractedMessages(events: readonly ThreadEvent[]): ReadonlySet<ThreadEvent> {
  const retracted = new Set<ThreadEvent>();
  for (const [index, { type }] of events.entries()) {
    if (type !== 'message-retracted') continue;
    const message = events.findLast(
      (event, at) => at < index && event.type === 'message-added' && !retracted.has(event),
    );
    if (message !== undefined) retracted.add(message);
  }
  return retracted;
}

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
  const isKept = (event: ThreadEvent): boolean => isAppMessage(event) && !retracted.has(event);
  const begin = events.findIndex(
    (event) => isAppMessage(event) && messageIdOf(event.message) === messageId && isKept(event),
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
export function isAppMessage(event: ThreadEvent): event is ThreadEventOf<'message-added'> {
  return event.type === 'message-added' && event.place === undefined;
}
