import { isAppMessage } from '../thread/app-messages.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';

/** What a page shows as one assistant message: the events from a user's message to the next one, and what is recorded later of its calls and requests. */
export interface Turn {
  /** The revision of its first event: the user's message, or the first event of the thread. */
  revision: number;
  /** The revision of the last event before the next turn. */
  end: number;
  events: ThreadEvent[];
}

/** The turns of a thread, oldest first. */
export function turnsOf(events: readonly ThreadEvent[]): Turn[] {
  const finder = new TurnFinder();
  const turns = new Map<number, Turn>();
  for (const [index, event] of events.entries()) {
    const revision = finder.next(events);
    const turn = turns.get(revision) ?? { revision, end: 0, events: [] };
    turns.set(revision, turn);
    turn.events.push(event);
    if (finder.current === revision) turn.end = index + 1;
  }
  return [...turns.values()];
}

/**
 * Reads the events of a thread one after the other, and finds the turn that shows each. A call may run, or be asked about again, after the
 * next user message is recorded, and stays a part of the message that it was made in.
 */
export class TurnFinder {
  #read = 0;
  #current = 1;
  /** The turns of steps and of requests. */
  readonly #steps = new Map<number, number>();
  readonly #requests = new Map<string, number>();

  /** The number of events that were read. */
  get read(): number {
    return this.#read;
  }

  /** The turn that has begun last. */
  get current(): number {
    return this.#current;
  }

  /** Reads the next event. Returns the revision of the first event of its turn. */
  next(events: readonly ThreadEvent[]): number {
    if (beginsTurn(events, this.#read)) this.#current = this.#read + 1;
    const event = events[this.#read];
    this.#read += 1;
    if (event === undefined) return this.#current;
    if (event.type === 'step-finished') this.#steps.set(event.step, this.#current);
    const turn = this.#turnMadeIn(event) ?? this.#current;
    if (event.type === 'request-opened') this.#requests.set(event.request.requestId, turn);
    return turn;
  }

  #turnMadeIn(event: ThreadEvent): number | undefined {
    switch (event.type) {
      case 'message-added':
      case 'request-opened':
        return event.place && this.#steps.get(event.place.step);
      case 'call-started':
      case 'call-deferred':
      case 'call-ended':
        return this.#steps.get(event.step);
      case 'request-answered':
      case 'request-voted':
        return this.#requests.get(event.response.requestId);
      case 'request-closed':
      case 'vote-withdrawn':
      case 'request-reassigned':
        return this.#requests.get(event.requestId);
      case 'thread-created':
      case 'messages-imported':
      case 'agent-changed':
      case 'message-retracted':
      case 'run-started':
      case 'run-renewed':
      case 'run-ended':
      case 'stop-requested':
      case 'step-finished':
      case 'answer-delivered':
      case 'request-reminded':
      case 'call-lost':
      case 'recovery-failed':
      case 'call-abandoned':
      case 'late-result':
      case 'grant-created':
      case 'grant-used':
      case 'grant-revoked':
        return undefined;
    }
  }
}

/** The revision of the first event of the turn that contains the event at `revision`. */
export function turnAt(events: readonly ThreadEvent[], revision: number): number {
  const index = Math.min(revision, events.length) - 1;
  for (let start = index; start > 0; start -= 1) if (beginsTurn(events, start)) return start + 1;
  return 1;
}

/** Whether the event at an index is the first of a turn. */
function beginsTurn(events: readonly ThreadEvent[], index: number): boolean {
  const event = events[index];
  if (event === undefined) return false;
  if (index === 0) return true;
  return isAppMessage(event) && event.message.role === 'user';
}

/** The id of the assistant message of a turn: the same live, in every tab, and after a reload. */
export function messageIdOf(threadId: string, revision: number): string {
  return `${threadId}:${revision}`;
}
