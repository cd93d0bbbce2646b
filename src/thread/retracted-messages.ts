import type { ThreadEvent } from './thread-event.ts';

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
