import { applyEvents } from './apply/apply-event.ts';
import { draftOf, type HeadDraft, headOf } from './apply/head-draft.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { ThreadHead, ThreadState } from './thread-state.ts';

/** Events that may be appended to a thread, and the head that the thread would then have. The thread itself does not change. */
export class Proposal {
  /** The thread as it is stored. */
  readonly state: Readonly<ThreadState>;
  readonly #agent: string | undefined;
  readonly #events: ThreadEvent[] = [];
  #head: ThreadHead;
  /** Set while events have been added that `#head` does not have. */
  #draft: HeadDraft | undefined;

  /** A thread that is new will belong to the agent named `agent`. */
  constructor(state: ThreadState, agent?: string) {
    this.state = state;
    this.#agent = agent;
    this.#head = state.head;
  }

  /** The head after the events so far. It stays as it is when more are added. */
  get head(): ThreadHead {
    if (this.#draft !== undefined) this.#head = headOf(this.#draft);
    this.#draft = undefined;
    return this.#head;
  }

  get events(): readonly ThreadEvent[] {
    return this.#events;
  }

  /** Adds events; a new thread begins with a `thread-created`. Throws `log-tampered` for an event that can't follow. */
  add(...events: ThreadEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    this.#draft ??= draftOf(this.#head, this.state.endedRequests);
    const { threadId } = this.state;
    if (!this.#draft.head.created) {
      const owner = this.#agent === undefined ? {} : { agent: this.#agent };
      events.unshift({ type: 'thread-created', at: first.at, threadId, ...owner });
    }
    applyEvents(this.#draft, events);
    this.#events.push(...events);
  }
}
