import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { importedMessages } from '../../thread/app-messages.ts';
import type { ImportedHistory } from './imported-history.ts';
import type { AnswerOptions } from './run-input.ts';

/** What happens to a history that a client sends for a thread without events. */
export type HistoryOption = 'refuse' | 'import';

/** Where a message was in what the client sent. */
export interface SentPlace {
  position: string;
  /** Where each part of the message was, below `position`. Absent: at the same index of its content. */
  places?: readonly string[];
}

/** A history that a client sent, and where each message of it was. */
interface SentHistory {
  threadId: string;
  messages: ImportedHistory['messages'];
  sent: readonly SentPlace[];
}

/** What imports: an agent. */
interface Importer {
  thread: (threadId: string, history?: ImportedHistory) => Promise<AgentThread>;
}

/** Throws a `TypeError` for an invalid option. */
export function checkedHistory(history: HistoryOption = 'refuse'): HistoryOption {
  if (history === 'refuse' || history === 'import') return history;
  throw new TypeError("history must be 'refuse' or 'import'.");
}

/**
 * Imports what a client sent for a thread without events, and closes open calls. If another request created the thread first, opens that
 * thread. Throws `invalid-input` with the position in what the client sent.
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
      (place, index: string, part?: string) => sentPlace(sent[Number(index)], part) ?? place,
    );
    throw new HoldpointError(error.code, message, { cause: error });
  }
}

const importedPlace = /^messages\[(\d+)\](?:\.(?:parts|content)\[(\d+)\])?/;

function sentPlace(sent: SentPlace | undefined, part: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  const { position, places } = sent;
  if (part === undefined) return position;
  const place = places === undefined ? `content[${part}]` : places[Number(part)];
  return place === undefined ? position : `${position}.${place}`;
}

/**
 * Whether a thread has an imported conversation, no step after it and no open request. An answer that it gets is to a request of the other
 * system.
 */
export function isOnlyImported({ events, activeRequests }: AgentThread): boolean {
  return (
    importedMessages(events).length > 0 &&
    activeRequests.length === 0 &&
    !events.some(({ type }) => type === 'step-finished')
  );
}
