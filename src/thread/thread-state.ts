import type { ModelMessage } from 'ai';
import type { CallPlace, ToolCallRecord, ToolCallStatus } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { type EntryMark, readEntry } from './log-entry.ts';
import type { ThreadEvent } from './thread-event.ts';
import {
  callAt,
  type EndedRequest,
  isRunning,
  isSamePlace,
  makeNewlyPast,
  type ThreadHead,
} from './thread-head.ts';
import type { LogEntry } from './thread-store.ts';

/** Everything that is derived from the events of a thread. Only `applyEntry` and `adopt` change it. */
export interface ThreadState {
  readonly threadId: string;
  head: ThreadHead;
  /** This and the collections below only grow, except that retracted messages leave `messages`. */
  readonly events: EventList;
  /** The ends of the log's entries. */
  readonly entries: EntryMark[];
  readonly messages: ModelMessage[];
  readonly pastCalls: ToolCallRecord[];
  readonly endedRequests: Map<string, EndedRequest>;
  readonly toolCallIds: Set<string>;
  /** The size of the thread at its latest snapshot; 0 without one. */
  snapshotSize: number;
}

/** Measures a thread: the number of its events and messages. */
export function measureThread({
  events,
  messages,
}: Pick<ThreadState, 'events' | 'messages'>): number {
  return events.length + messages.length;
}

/** A thread without events. */
export function makeEmptyThread(threadId: string): ThreadState {
  return {
    threadId,
    head: {
      created: false,
      agent: undefined,
      parent: undefined,
      requestedBy: undefined,
      requesters: [],
      isAnswered: false,
      steps: 0,
      progress: undefined,
      decided: [],
      run: undefined,
      failure: undefined,
      caller: undefined,
      calls: [],
      openRequests: [],
      grants: [],
      unsentAnswers: [],
      queuedMessages: [],
      unanswered: [],
      modelIsNext: false,
      isStopped: false,
      isOutOfSteps: false,
      newlyPast: makeNewlyPast(),
    },
    events: new EventList(),
    entries: [],
    messages: [],
    pastCalls: [],
    endedRequests: new Map(),
    toolCallIds: new Set(),
    snapshotSize: 0,
  };
}

/** The hash of the last entry; `''` for a thread without events. */
export function readLastHash({ entries }: Readonly<ThreadState>): string {
  return entries.at(-1)?.hash ?? '';
}

/** All calls of the thread, oldest first. A started call that no run holds is shown as indeterminate. */
export function listCalls(state: ThreadState, now: number): ToolCallRecord[] {
  const running = isRunning(state.head, now);
  return [
    ...state.pastCalls,
    ...state.head.calls.map((call): ToolCallRecord =>
      call.status === 'started' && !running ? { ...call, status: 'indeterminate' } : call,
    ),
  ];
}

/** The call at a place, in the open step or a past one. */
export function findAnyCall(
  { head, pastCalls }: Readonly<ThreadState>,
  place: CallPlace,
): ToolCallRecord | undefined {
  return callAt(head, place) ?? pastCalls.findLast((call) => isSamePlace(place, call));
}

/** The call with this id. Throws `not-found`. */
export function callOfId(
  state: Readonly<ThreadState>,
  toolCallId: string,
  now: number,
): ToolCallRecord {
  const call = listCalls(state, now).find((other) => other.toolCallId === toolCallId);
  if (call !== undefined) return call;
  const where = adviseWhere(state, 'Its calls are in thread.calls.');
  throw new HoldpointError(
    'not-found',
    `Thread ${state.threadId} has no call ${toolCallId}. ${where}`,
  );
}

/** Advises where to find what a thread doesn't have: `inThread`, or in another store, if this one doesn't have the thread at all. */
export function adviseWhere({ head }: Readonly<ThreadState>, inThread: string): string {
  if (head.created) return inThread;
  return "The agent's store doesn't have this thread: give the agent the store of the process that asked.";
}

/** Throws `not-allowed` unless the call has one of `statuses`; `action` describes what they allow. */
export function refuseUnless(
  { toolCallId, status }: ToolCallRecord,
  statuses: readonly ToolCallStatus[],
  action: string,
): void {
  if (statuses.includes(status)) return;
  throw new HoldpointError(
    'not-allowed',
    `Call ${toolCallId} is ${status}; ${action} only while it is ${statuses.join(' or ')}.`,
  );
}

/** Events that can be searched from the end: an array of them, or an `EventList`. */
export interface EventSearch {
  findLast: <EVENT extends ThreadEvent>(
    isMeant: (event: ThreadEvent) => event is EVENT,
  ) => EVENT | undefined;
}

/** The events of a thread, oldest first. Those behind a snapshot are read from their entries when they are asked for, the newest first. */
export class EventList implements EventSearch {
  readonly #events: ThreadEvent[] = [];
  /** The entries whose events are not in `#events` yet. */
  readonly #unread: LogEntry[];

  /** `unread` are the entries behind the snapshot from which a thread was opened. */
  constructor(unread: readonly LogEntry[] = []) {
    this.#unread = [...unread];
    this.#events.length = unread.at(-1)?.revision ?? 0;
  }

  get length(): number {
    return this.#events.length;
  }

  /** The latest event. */
  get last(): ThreadEvent | undefined {
    this.#readFrom(this.length - 1);
    return this.#events.at(-1);
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
