import type { AssistantModelMessage, UserModelMessage } from 'ai';
import type { NewThreadEvent, ThreadEvent, ThreadStore } from 'holdpoint';
import { chained } from '../support/chained.ts';

const filler = 'and then we looked at the numbers of the quarter once more, line by line, '.repeat(
  3,
);
const start = Date.UTC(2026, 0, 1);
const eventsPerExchange = 4;
const chunk = 1_000 * eventsPerExchange;

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
export function pastEvents(messages: ReturnType<typeof pastMessages>): NewThreadEvent[] {
  return messages.flatMap((message, index): NewThreadEvent[] => {
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
  past: readonly NewThreadEvent[],
): Promise<void> {
  if (past.length === 0) return;
  const events = chained([{ type: 'thread-created', at: start, threadId }, ...past]);
  let revision = 0;
  const append = async (added: readonly ThreadEvent[]): Promise<void> => {
    const expected = revision;
    revision += added.length;
    const summary = { threadId, status: 'idle', revision, openRequests: 0 } as const;
    await store.append(threadId, expected, added, { ...summary, updatedAt: start });
  };
  for (let from = 0; from < events.length; from += chunk) {
    await append(events.slice(from, from + chunk));
  }
}
