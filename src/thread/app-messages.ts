import type { JSONValue, ModelMessage } from 'ai';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';

/** Copies a message and adds the id that its client gave it. */
export function withMessageId(message: ModelMessage, messageId: string): ModelMessage {
  return withOwnOptions(message, { messageId });
}

/** Copies a message and adds the metadata that its client gave it, for the client only. */
export function withMetadata(message: ModelMessage, metadata: JSONValue): ModelMessage {
  return withOwnOptions(message, { metadata });
}

function withOwnOptions(message: ModelMessage, own: Record<string, JSONValue>): ModelMessage {
  const { providerOptions } = message;
  const holdpoint = { ...providerOptions?.['holdpoint'], ...own };
  return { ...message, providerOptions: { ...providerOptions, holdpoint } };
}

/** Omits the options that a client gave its message beside the content: no model gets them. */
export function omitOwnOptions(message: ModelMessage): ModelMessage {
  const { holdpoint: _own, ...others } = message.providerOptions ?? {};
  const copy = { ...message };
  delete copy.providerOptions;
  return Object.keys(others).length === 0 ? copy : { ...copy, providerOptions: others };
}

/**
 * The id that a client gave a message, so that a message which is sent again is recorded once. It is kept in the message, at
 * `providerOptions.holdpoint.messageId`, which no model gets.
 */
export function readMessageId({ role, providerOptions }: ModelMessage): string | undefined {
  const messageId = providerOptions?.['holdpoint']?.['messageId'];
  return role !== 'assistant' && typeof messageId === 'string' ? messageId : undefined;
}

/**
 * Checks whether a message is only for `holdPoint`, which reads its provider options: it answers requests, or resumes a thread. No model
 * gets it.
 */
export function isForHoldPoint({
  providerOptions,
}: Pick<ModelMessage, 'providerOptions'>): boolean {
  const { answers, resume } = providerOptions?.['holdpoint'] ?? {};
  return Array.isArray(answers) || resume === true;
}

/**
 * Reads the id that a client gave a message, for all clients: a thread has each id once. `undefined` without an id, and for an id in the
 * form that channels make, which could name another message, such as the reply, and take its place.
 */
export function readShownId(threadId: string, message: ModelMessage): string | undefined {
  const id = readMessageId(message);
  return id === undefined || isChannelId(threadId, id) ? undefined : id;
}

/** Checks whether an id is of the form of those that channels make for the messages of a thread. */
export function isChannelId(threadId: string, id: string): boolean {
  return id.startsWith(`${threadId}:`);
}

/** The metadata that a client gave a message; `undefined` without any. */
export function readMetadata({ providerOptions }: ModelMessage): JSONValue | undefined {
  return providerOptions?.['holdpoint']?.['metadata'];
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

/**
 * The turn of the message with an id: what happened from it to the `next` message of the app. `undefined` if the thread does not have the
 * message.
 */
export function turnOfMessage(
  events: readonly ThreadEvent[],
  messageId: string,
):
  | { message: ModelMessage; events: readonly ThreadEvent[]; next: ModelMessage | undefined }
  | undefined {
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

/** Checks whether an event is a message from the app, and not one that an answer to a question resulted in. */
export function isAppMessage(event: ThreadEvent): event is ThreadEventOf<'message-added'> {
  return event.type === 'message-added' && event.place === undefined;
}
