import { HoldpointError } from '../errors.ts';
import { deepFreeze } from '../thread/deep-freeze.ts';
import { decodeEvents, encodeEvent } from '../thread/event-text.ts';
import { jsonCopy, toJson } from '../thread/tagged-json.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** A thread as this store keeps it. */
interface KeptThread {
  events: KeptEvent[];
  summary: ThreadSummary;
}

/** A copy of an event that nothing can change: frozen, or, where it holds bytes, which can't be frozen, as text. */
type KeptEvent = { event: ThreadEvent } | { text: string };

/**
 * Threads in this process's memory, gone when it ends: for tests, and for agents whose threads travel as JSON.
 * It keeps copies of its own; what it gives out is frozen.
 */
export function memoryStore(): ThreadStore {
  const threads = new Map<string, KeptThread>();
  return {
    async read(threadId, afterRevision = 0) {
      return (threads.get(threadId)?.events ?? []).slice(afterRevision).map(given);
    },

    async append(threadId, expectedRevision, events, summary) {
      const kept = threads.get(threadId)?.events ?? [];
      if (kept.length !== expectedRevision) {
        throw new HoldpointError(
          'revision-conflict',
          `Thread ${threadId} is at revision ${kept.length}, not ${expectedRevision}.`,
        );
      }
      const added = events.map(keep);
      for (const event of added) kept.push(event);
      threads.set(threadId, { events: kept, summary: { ...summary } });
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

function keep(event: ThreadEvent): KeptEvent {
  return toJson(event) === event
    ? { event: deepFreeze(jsonCopy(event)) }
    : { text: encodeEvent(event) };
}

function given(kept: KeptEvent): ThreadEvent {
  if ('event' in kept) return kept.event;
  const [event] = decodeEvents([kept.text]);
  if (event === undefined) throw new HoldpointError('log-tampered', 'A kept event is gone.');
  return event;
}
