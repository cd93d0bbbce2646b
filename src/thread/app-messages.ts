import type { ModelMessage } from 'ai';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';

/** Copies a message and adds the id that its client gave it. */
export function withMessageId(message: ModelMessage, messageId: string): ModelMessage {
  const { providerOptions } = message;
  const holdpoint = { ...providerOptions?.['holdpoint'], messageId };
  return { ...message, providerOptions: { ...providerOptions, holdpoint } };
}

/**
 * The id that a client gave a message, so that a message which is sent again is recorded once. It is kept in the message, at
 * `providerOptions.holdpoint.messageId`, which providers ignore.
 */
export function readMessageId({ role, providerOptions }: ModelMessage): string | undefined {
  const messageId = providerOptions?.['holdpoint']?.['messageId'];
  return role !== 'assistant' && typeof messageId === 'string' ? messageId : undefined;
}

/** The messages of the conversation with which a thread began. */
export function listImportedMessages(events: readonly ThreadEvent[]): readonly ModelMessage[] {
  const [, second] = events;
  return second?.type === 'messages-imported' ? second.messages : [];
}

/** The `message-added` events whose message was retracted later: it is not in the history and not shown. */
export function findRetractedMessages(events: readonly ThreadEvent[]): ReadonlySet<ThreadEvent> {
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

/** The turn of a message: what happened from it to the next message of the app. */
interface MessageTurn {
  message: ModelMessage;
  events: readonly ThreadEvent[];
  /** The next message of the app. */
  next: ModelMessage | undefined;
}

/** The turn of the message with an id; `undefined` if the thread does not have the message. */
export function turnOfMessage(
  events: readonly ThreadEvent[],
  messageId: string,
): MessageTurn | undefined {
  const retracted = findRetractedMessages(events);
  const isKept = (event: ThreadEvent): boolean => isAppMessage(event) && !retracted.has(event);
  const begin = events.findIndex(
    (event) => isAppMessage(event) && readMessageId(event.message) === messageId && isKept(event),
  );
  const added = events[begin];
  if (added?.type !== 'message-added') return undefined;
  const later = events.slice(begin + 1);
  const end = later.findIndex(isKept);
  const next = later[end];
  return {
    message: added.message,
    events: end === -1 ? later : later.slice(0, end),
    next: next?.type === 'message-added' ? next.message : undefined,
  };
}

/** Whether an event is a message from the app, and not one that an answer to a question resulted in. */
export function isAppMessage(event: ThreadEvent): event is ThreadEventOf<'message-added'> {
  return event.type === 'message-added' && event.place === undefined;
}
