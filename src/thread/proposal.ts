import { HeadDraft } from './events/head-draft.ts';
import { applyEvents } from './apply-events.ts';
import type { ThreadEvent, ThreadEventOf } from './thread-event.ts';
import type { ThreadHead } from './thread-head.ts';
import type { ThreadState } from './thread-state.ts';

/** The origin of a thread: the name of its agent, and the call that the agent works on in it. */
export type ThreadOrigin = Pick<ThreadEventOf<'thread-created'>, 'agent' | 'parent'>;

/** Proposes events, or throws. */
export type Decide = (proposal: Proposal) => void;

/** Events that may be appended to a thread, and the head that the thread would then have. The thread itself does not change. */
export class Proposal {
  /** The thread as it is stored. */
  readonly state: Readonly<ThreadState>;
  readonly #origin: ThreadOrigin;
  readonly #events: ThreadEvent[] = [];
  #head: ThreadHead;
  /** Set while events have been added that `#head` does not have. */
  #draft: HeadDraft | undefined;

  /** Makes a proposal. A new thread will have this origin. */
  constructor(state: ThreadState, origin: ThreadOrigin = {}) {
    this.state = state;
    this.#origin = origin;
    this.#head = state.head;
  }

  /** The head after the events so far. It stays as it is when more are added. */
  get head(): ThreadHead {
    if (this.#draft !== undefined) this.#head = this.#draft.finish();
    this.#draft = undefined;
    return this.#head;
  }

  get events(): readonly ThreadEvent[] {
    return this.#events;
  }

  /**
   * Adds events; a new thread begins with a `thread-created`. None is earlier than the one before it: clocks differ and are set back, and
   * an event may be older than others of its append. Throws `log-tampered` for an event that can't follow.
   */
  add(...added: ThreadEvent[]): void {
    const [first] = added;
    if (first === undefined) return;
    this.#draft ??= new HeadDraft(this.#head, this.state.endedRequests);
    let latest = this.#events.at(-1)?.at ?? findLatestTime(this.state);
    const events = added.map((event) => {
      latest = Math.max(latest, event.at);
      return event.at < latest ? { ...event, at: latest } : event;
    });
    if (!this.#draft.head.created) {
      const { threadId } = this.state;
      events.unshift({ type: 'thread-created', at: first.at, threadId, ...this.#origin });
    }
    applyEvents(this.#draft, events);
    this.#events.push(...events);
  }
}

/** The time of a thread's latest event, in milliseconds since 1970. */
export function findLatestTime({ events }: Pick<ThreadState, 'events'>): number {
  return events.last?.at ?? -Infinity;
}
