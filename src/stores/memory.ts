import { HoldpointError } from '../errors.ts';
import { decodeEvents, encodeEvent } from '../thread/event-text.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/**
 * Threads in this process's memory, gone when it ends: for tests, and for agents whose threads travel as JSON.
 * It keeps text, so nothing that goes in or comes out is shared.
 */
export function memoryStore(): ThreadStore {
  const threads = new Map<string, { texts: string[]; summary: ThreadSummary }>();
  return {
    async read(threadId, afterRevision = 0) {
      return decodeEvents(threads.get(threadId)?.texts.slice(afterRevision) ?? []);
    },

    async append(threadId, expectedRevision, events, summary) {
      const texts = threads.get(threadId)?.texts ?? [];
      if (texts.length !== expectedRevision) {
        throw new HoldpointError(
          'revision-conflict',
          `Thread ${threadId} is at revision ${texts.length}, not ${expectedRevision}.`,
        );
      }
      const added = events.map(encodeEvent);
      for (const text of added) texts.push(text);
      threads.set(threadId, { texts, summary: { ...summary } });
    },

    async head(threadId) {
      const thread = threads.get(threadId);
      return thread === undefined ? undefined : { ...thread.summary };
    },

    async list({ status, dueBefore, after, limit = 100 }) {
      return [...threads.values()]
        .map(({ summary }) => ({ ...summary }))
        .filter((summary) => status === undefined || summary.status === status)
        .filter(
          (summary) => dueBefore === undefined || (summary.nextDeadline ?? Infinity) < dueBefore,
        )
        .filter((summary) => after === undefined || summary.threadId > after)
        .toSorted((one, other) => (one.threadId < other.threadId ? -1 : 1))
        .slice(0, limit);
    },
  };
}
