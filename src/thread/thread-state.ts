import type { ModelMessage } from 'ai';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { EventList } from './event-list.ts';
import type { EntryMark } from './log-entry.ts';
import { type EndedRequest, isRunning, nothingPast, type ThreadHead } from './thread-head.ts';

/** Everything that is derived from the events of a thread. Only `applyEntry` and `adopt` change it. */
export interface ThreadState {
  readonly threadId: string;
  head: ThreadHead;
  /** This and the collections below only grow, except that retracted messages leave `messages`. */
  readonly events: EventList;
  /** Where each entry of the log ends. */
  readonly entries: EntryMark[];
  readonly messages: ModelMessage[];
  readonly pastCalls: ToolCallRecord[];
  readonly endedRequests: Map<string, EndedRequest>;
  readonly toolCallIds: Set<string>;
  /** The `sizeOf` the thread at its latest snapshot; 0 without one. */
  snapshotSize: number;
}

/** How large a thread is: how many events and messages it has. */
export function sizeOf({ events, messages }: Pick<ThreadState, 'events' | 'messages'>): number {
  return events.length + messages.length;
}

/** A thread without events. */
export function emptyThread(threadId: string): ThreadState {
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
      calls: [],
      openRequests: [],
      grants: [],
      unsentAnswers: [],
      queuedMessages: [],
      unanswered: [],
      modelIsNext: false,
      isStopped: false,
      isOutOfSteps: false,
      newlyPast: nothingPast(),
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
export function lastHash({ entries }: Readonly<ThreadState>): string {
  return entries.at(-1)?.hash ?? '';
}

/** All calls of the thread, oldest first. A started call that no run holds is shown as indeterminate. */
export function callsOf(state: ThreadState, now: number): ToolCallRecord[] {
  const running = isRunning(state.head, now);
  return [
    ...state.pastCalls,
    ...state.head.calls.map((call): ToolCallRecord =>
      call.status === 'started' && !running ? { ...call, status: 'indeterminate' } : call,
    ),
  ];
}
