import { isAppMessage } from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';

/** The events from a user's message to the next one, which a page shows as one assistant message. */
export interface Turn {
  /** The revision of its first event: the user's message, or the first event of the thread. */
  revision: number;
  events: readonly ThreadEvent[];
}

/** The turns of a thread, oldest first. */
export function turnsOf(events: readonly ThreadEvent[]): Turn[] {
  const starts = [...events.keys()].filter((index) => beginsTurn(events, index));
  return starts.map((start, turn) => ({
    revision: start + 1,
    events: events.slice(start, starts[turn + 1]),
  }));
}

/** The revision of the first event of the turn that contains the event at `revision`. */
export function turnAt(events: readonly ThreadEvent[], revision: number): number {
  const index = Math.min(revision, events.length) - 1;
  for (let start = index; start > 0; start -= 1) if (beginsTurn(events, start)) return start + 1;
  return 1;
}

/** Whether the event at an index is the first of a turn. */
export function beginsTurn(events: readonly ThreadEvent[], index: number): boolean {
  const event = events[index];
  if (event === undefined) return false;
  if (index === 0) return true;
  return isAppMessage(event) && event.message.role === 'user';
}

/** The id of the assistant message of a turn: the same live, in every tab, and after a reload. */
export function messageIdOf(threadId: string, revision: number): string {
  return `${threadId}:${revision}`;
}
