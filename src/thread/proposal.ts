import { beginWriting, headSoFar, writeEvents } from './apply/apply-event.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { ThreadHead, ThreadState } from './thread-state.ts';
import type { Writing } from './apply/head-draft.ts';

/** Events that may be appended to a thread, and its head as it would be after them. The thread itself is not written. */
export class Proposal {
  /** The thread as it is stored. */
  readonly state: Readonly<ThreadState>;
  readonly #agent: string | undefined;
  readonly #events: ThreadEvent[] = [];
  #writing: Writing | undefined;

  /** `agent` is the name of the agent whose thread a new one is. */
  constructor(state: ThreadState, agent?: string) {
    this.state = state;
    this.#agent = agent;
  }

  /** The head after the events so far. Its calls are written on as long as events are added. */
  get head(): ThreadHead {
    return this.#writing === undefined ? this.state.head : headSoFar(this.#writing);
  }

  get events(): readonly ThreadEvent[] {
    return this.#events;
  }

  /** Adds events; those of a new thread come after its `thread-created`. Throws `log-tampered` for one that can't follow. */
  add(...events: ThreadEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    this.#writing ??= beginWriting(this.state);
    const { threadId } = this.state;
    if (!this.#writing.draft.created) {
      const owner = this.#agent === undefined ? {} : { agent: this.#agent };
      events.unshift({ type: 'thread-created', at: first.at, threadId, ...owner });
    }
    writeEvents(this.#writing, events);
    this.#events.push(...events);
  }
}
