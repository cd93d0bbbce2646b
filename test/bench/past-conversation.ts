import type { AssistantModelMessage, UserModelMessage } from 'ai';
import type { LogEntry, ThreadEvent, ThreadStore } from 'holdpoint';
import { chainedEach, endOf } from '../support/chained.ts';

const filler = 'and then we looked at the numbers of the quarter once more, line by line, '.repeat(
  3,
);
const start = Date.UTC(2026, 0, 1);
const eventsPerAppend = 2;
const chunk = 1_000;

/** What a user and a model said before, in turn: about 200 characters a message. */
export function pastMessages(count: number): (UserModelMessage | AssistantModelMessage)[] {
  return Array.from({ length: count }, (_, index) => {
    const text = `Message ${index}: ${filler}`.slice(0, 200);
    return index % 2 === 0
      ? { role: 'user', content: text }
      : { role: 'assistant', content: [{ type: 'text', text }] };
  });
}

/** The log that holdpoint writes for the same conversation, without the event that creates the thread. */
export function pastEvents(messages: ReturnType<typeof pastMessages>): ThreadEvent[] {
  return messages.flatMap((message, index): ThreadEvent[] => {
    const at = start + index * 1_000;
    if (message.role === 'user') {
      const runId = `run-of-message-${index}`.padEnd(22, '-');
      return [
        { type: 'message-added', at, message },
        { type: 'run-started', at, runId, leaseUntil: at + 60_000 },
      ];
    }
    const usage = { inputTokens: 3, outputTokens: 10, totalTokens: 13 };
    const step = (index - 1) / 2;
    return [
      { type: 'step-finished', at, step, message, finishReason: 'stop', usage },
      { type: 'run-ended', at },
    ];
  });
}

/** Puts a past into a store as a thread of its own, through nothing but `append`. */
export async function seed(
  store: ThreadStore,
  threadId: string,
  past: readonly ThreadEvent[],
): Promise<void> {
  if (past.length > 0) await appendPast(store, threadId, pastEntries(threadId, past));
}

/** The log of a thread with this past. */
export function pastEntries(threadId: string, past: readonly ThreadEvent[]): LogEntry[] {
  return chainedEach(appendsOf([{ type: 'thread-created', at: start, threadId }], past));
}

/** Puts a thread's log into a store that does not have the thread. */
export async function appendPast(
  store: ThreadStore,
  threadId: string,
  entries: readonly LogEntry[],
): Promise<void> {
  let end = endOf([]);
  for (let from = 0; from < entries.length; from += chunk) {
    const added = entries.slice(from, from + chunk);
    const before = end;
    end = endOf(added);
    await store.append(threadId, before, added, {
      threadId,
      status: 'idle',
      ...end,
      openRequests: 0,
      failures: 0,
      updatedAt: start,
    });
  }
}

/** What holdpoint appends at once: the message with the start of its run, and the answer with the run's end. */
function appendsOf(
  created: readonly ThreadEvent[],
  past: readonly ThreadEvent[],
): (readonly ThreadEvent[])[] {
  const appends: (readonly ThreadEvent[])[] = [];
  for (let from = 0; from < past.length; from += eventsPerAppend) {
    const added = past.slice(from, from + eventsPerAppend);
    appends.push(from === 0 ? [...created, ...added] : added);
  }
  return appends;
}
