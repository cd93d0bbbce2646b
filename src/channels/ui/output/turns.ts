import type { ThreadEvent } from '../../../thread/thread-event.ts';

/** A stretch of a thread that is one assistant message on a page: from a user's message to the next. */
export interface Turn {
  /** Of its first event: the user's message, or the beginning of the thread. */
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

/** The revision of the first event of the turn that an event of this revision is in. */
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
  /* With the place of a call it is what an answer says to the model, and no user's. */
  return (
    event.type === 'message-added' && event.message.role === 'user' && event.place === undefined
  );
}

/** The id of the assistant message of a turn: the same live, in every tab, and after a reload. */
export function messageIdOf(threadId: string, revision: number): string {
  return `${threadId}:${revision}`;
}
