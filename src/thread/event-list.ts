import { HoldpointError } from '../errors.ts';
import { readEntry } from './log-entry.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { LogEntry } from './thread-store.ts';

/** Events that can be searched from the end: an array of them, or an `EventList`. */
export interface EventSearch {
  findLast: <EVENT extends ThreadEvent>(
    isMeant: (event: ThreadEvent) => event is EVENT,
  ) => EVENT | undefined;
}

/** The events of a thread, oldest first. Those behind a snapshot are read from their entries when they are asked for, the newest first. */
export class EventList implements EventSearch {
  readonly #events: ThreadEvent[];
  /** The entries whose events are not in `#events` yet. */
  readonly #unread: LogEntry[];

  /** `unread` are the entries behind the snapshot from which a thread was opened. */
  constructor(unread: readonly LogEntry[] = []) {
    this.#unread = [...unread];
    this.#events = Array.from<ThreadEvent>({ length: unread.at(-1)?.revision ?? 0 });
  }

  get length(): number {
    return this.#events.length;
  }

  push(event: ThreadEvent): void {
    this.#events.push(event);
  }

  slice(begin = 0, end?: number): ThreadEvent[] {
    this.#readFrom(begin);
    return this.#events.slice(begin, end);
  }

  /** The index of the last event before `end` that `isMeant`; -1 without one. */
  findLastIndex(isMeant: (event: ThreadEvent) => boolean, end = this.length): number {
    for (let index = end - 1; index >= 0; index -= 1) {
      this.#readFrom(index);
      const event = this.#events[index];
      if (event !== undefined && isMeant(event)) return index;
    }
    return -1;
  }

  findLast<EVENT extends ThreadEvent>(
    isMeant: (event: ThreadEvent) => event is EVENT,
  ): EVENT | undefined {
    const event = this.#events[this.findLastIndex(isMeant)];
    return event !== undefined && isMeant(event) ? event : undefined;
  }

  #readFrom(index: number): void {
    for (;;) {
      const last = this.#unread.at(-1);
      if (last === undefined || last.revision <= index) return;
      const { events } = readEntry(last);
      const begin = this.#unread.at(-2)?.revision ?? 0;
      if (begin + events.length !== last.revision) {
        throw new HoldpointError(
          'log-tampered',
          `The log was changed at revision ${begin + 1}: its entry has another number of events than was recorded. Restore the thread from a backup.`,
        );
      }
      for (const [offset, event] of events.entries()) this.#events[begin + offset] = event;
      this.#unread.pop();
    }
  }
}
