import { headAfter } from './apply-event.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { ThreadHead, ThreadState } from './thread-state.ts';

/** Events that may be appended to a thread, and its head as it would be after them. The thread itself is not written. */
export class Proposal {
  readonly #state: ThreadState;
  readonly #events: ThreadEvent[] = [];
  #head: ThreadHead;

  constructor(state: ThreadState) {
    this.#state = state;
    this.#head = state.head;
  }

  /** The thread as it is stored. */
  get state(): Readonly<ThreadState> {
    return this.#state;
  }

  /** The head after the events so far. */
  get head(): ThreadHead {
    return this.#head;
  }

  get events(): readonly ThreadEvent[] {
    return this.#events;
  }

  /** Adds events; the first of a new thread come after its `thread-created`. Throws `log-tampered` for one that can't follow. */
  add(...events: ThreadEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    const { threadId, endedRequests } = this.#state;
    if (!this.#head.created) events.unshift({ type: 'thread-created', at: first.at, threadId });
    this.#head = headAfter(this.#head, events, endedRequests);
    this.#events.push(...events);
  }
}
