import type { ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isAppMessage } from '../thread/app-messages.ts';
import { CallsByPlace } from '../thread/calls-by-place.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { readItem, type ViewItem } from './thread-items.ts';

/** The log of a thread, and the calls in it. */
type ReadThread = Pick<AgentThread, 'events' | 'calls'>;

/**
 * A turn, which a page shows as one assistant message: the events from a user's message to the next one, and what is recorded later of its
 * calls and requests. See ADR 52.
 */
export interface Turn {
  /** The revision of its first event: the user's message, or the first event of the thread. */
  revision: number;
  /** The revision of the last event before the next turn. */
  end: number;
  /** The items of the events after the first one. */
  items: ViewItem[];
}

/** The turns of a thread, oldest first. */
export function readTurns(thread: ReadThread): Turn[] {
  const reader = new TurnReader();
  const turns = new Map<number, Turn>();
  for (const { turn: revision, item } of reader.read(thread)) {
    const turn = turns.get(revision) ?? { revision, end: 0, items: [] };
    turns.set(revision, turn);
    if (item !== undefined) turn.items.push(item);
    if (reader.current === revision) turn.end = reader.revision;
  }
  return [...turns.values()];
}

/** An event that was read. */
interface ReadEvent {
  event: ThreadEvent;
  /** The revision of the first event of the turn that shows it. */
  turn: number;
  /** Its item; `undefined` for the first event of a turn too, which is a message of the user. */
  item: ViewItem | undefined;
}

/**
 * Reads the events of a thread in order, and finds the items that each shows, and their turn. A call may run, or be asked about again,
 * after the next user message is recorded, and stays a part of the message that it was made in.
 */
export class TurnReader {
  readonly #calls = new CallsByPlace();
  #revision = 0;
  /** The number of events of the thread when its calls were read. */
  #known = 0;
  #current = 1;
  /** The turns of steps and of requests. */
  readonly #steps = new Map<number, number>();
  readonly #requests = new Map<string, number>();

  /** The revision up to which the thread was read. */
  get revision(): number {
    return this.#revision;
  }

  /** The turn that has begun last. */
  get current(): number {
    return this.#current;
  }

  /** The calls that were read, in the order in which they were first read. */
  get calls(): ToolCallRecord[] {
    return this.#calls.all();
  }

  /** Reads on, up to the revision `end`. */
  *read(thread: ReadThread, end = thread.events.length): Generator<ReadEvent, void> {
    if (this.#revision >= end) return;
    const { events } = thread;
    if (events.length > this.#known) this.#calls.update(thread.calls);
    this.#known = events.length;
    for (const event of events.slice(this.#revision, end)) {
      if (beginsTurn(events, this.#revision)) this.#current = this.#revision + 1;
      this.#revision += 1;
      const item = readItem(event, this.#calls);
      const turn = this.#findTurn(item) ?? this.#current;
      if (item?.type === 'request') this.#requests.set(item.request.requestId, turn);
      yield { event, turn, item: this.#revision === turn ? undefined : item };
    }
  }

  /** Finds the turn in which the subject of an item was made. */
  #findTurn(item: ViewItem | undefined): number | undefined {
    switch (item?.type) {
      case 'step':
        this.#steps.set(item.event.step, this.#current);
        return undefined;
      case 'message':
        return item.step === undefined ? undefined : this.#steps.get(item.step);
      case 'request':
      case 'call-started':
      case 'call-deferred':
      case 'call-ended':
      case 'input-remade':
        return item.call && this.#steps.get(item.call.step);
      case 'request-progress':
      case 'request-end':
        return this.#requests.get(item.requestId);
      case 'retraction':
      case undefined:
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

/** Checks whether the event at an index is the first of a turn. */
function beginsTurn(events: readonly ThreadEvent[], index: number): boolean {
  const event = events[index];
  if (event === undefined) return false;
  if (index === 0) return true;
  return isAppMessage(event) && event.message.role === 'user';
}

/** The id of the assistant message of a turn: the same live, in every tab, and after a reload. */
export function makeTurnMessageId(threadId: string, revision: number): string {
  return `${threadId}:${revision}`;
}
