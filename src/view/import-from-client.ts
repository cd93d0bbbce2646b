import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { listImportedMessages } from '../thread/app-messages.ts';
import type { AnswerOptions, ImportedHistory } from '../agent.ts';

/** The treatment of a history that a client sends for a thread without events. */
export type HistoryOption = 'refuse' | 'import';

/** The position of a message in the client's input. */
export interface SentPlace {
  position: string;
  /** The positions of the message's parts, below `position`. Absent: the parts have the same indices as in its content. */
  places?: readonly string[];
}

/** A history that a client sent, and the positions of its messages. */
interface SentHistory {
  threadId: string;
  messages: ImportedHistory['messages'];
  sent: readonly SentPlace[];
}

/** The part of an agent that imports. */
interface Importer {
  thread: (threadId: string, history?: ImportedHistory) => Promise<AgentThread>;
}

/** Throws a `TypeError` for an invalid option. */
export function checkHistoryOption(history: HistoryOption = 'refuse'): HistoryOption {
  if (history === 'refuse' || history === 'import') return history;
  throw new TypeError("history must be 'refuse' or 'import'.");
}

const mostNewMessages = 1_000;

/** Throws `invalid-input` for more new messages than people have written: a run records, and streams, each of them separately. */
export function refuseManyMessages(messages: readonly unknown[]): void {
  if (messages.length <= mostNewMessages) return;
  throw new HoldpointError(
    'invalid-input',
    `The request has ${messages.length} new messages; send at most ${mostNewMessages} at once.`,
  );
}

/**
 * Imports the history that a client sent for a thread without events, and closes open calls. If another request created the thread first,
 * opens that thread. Rejects with `invalid-input` and the position in the client's input.
 */
export async function importFromClient(
  agent: Importer,
  { threadId, messages, sent }: SentHistory,
  by: AnswerOptions,
): Promise<AgentThread> {
  if (messages.length === 0) return agent.thread(threadId);
  try {
    return await agent.thread(threadId, { messages, openCalls: 'close', ...by });
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'thread-diverged') return agent.thread(threadId);
    const message = error.message.replace(
      importedPlace,
      (place, index: string, part?: string) => locateSent(sent[Number(index)], part) ?? place,
    );
    throw new HoldpointError(error.code, message, { cause: error });
  }
}

const importedPlace = /^messages\[(\d+)\](?:\.(?:parts|content)\[(\d+)\])?/;

function locateSent(sent: SentPlace | undefined, part: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  const { position, places } = sent;
  if (part === undefined) return position;
  const place = places === undefined ? `content[${part}]` : places[Number(part)];
  return place === undefined ? position : `${position}.${place}`;
}

/**
 * Checks whether a thread has an imported conversation, no step after it and no open request. Answers sent to such a thread are for
 * requests of the system that the conversation came from.
 */
export function isOnlyImported({ events, activeRequests }: AgentThread): boolean {
  return (
    listImportedMessages(events).length > 0 &&
    activeRequests.length === 0 &&
    !events.some(({ type }) => type === 'step-finished')
  );
}
