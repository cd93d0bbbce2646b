import { HoldpointError } from '../errors.ts';
import type { EntryContent } from './log-entry.ts';
import { callPerEvent, type PerEvent, type ThreadEvent } from './thread-event.ts';
import { makeNewlyPast, type ThreadHead } from './thread-head.ts';
import { makeEmptyThread, measureThread, type ThreadState } from './thread-state.ts';
import { applyRequestAnswered, applyAnswerDelivered } from './events/answers.ts';
import { applyCallerChanged } from './events/callers.ts';
import {
  applyInputRemade,
  applyCallStarted,
  applyCallDeferred,
  applyCallLost,
  applyRecoveryFailed,
  applyCallAbandoned,
  applyCallEnded,
} from './events/calls.ts';
import { applyGrantCreated, applyGrantUsed, applyGrantRevoked } from './events/grants.ts';
import {
  applyMessagesImported,
  applyMessageAdded,
  applyMessageRetracted,
} from './events/messages.ts';
import { applyRequestOpened, applyReminded, applyRequestClosed } from './events/requests.ts';
import {
  applyApprovalsReleased,
  applyRunHeld,
  applyStopRequested,
  applyRunEnded,
} from './events/runs.ts';
import { applyStepFinished } from './events/steps.ts';
import { applyThreadCreated, applyAgentChanged } from './events/thread.ts';
import { applyVoted, applyVoteWithdrawn, applyReassigned } from './events/votes.ts';
import { HeadDraft, makeTamperedError } from './events/head-draft.ts';

/*
 * The change of the head by each event; nothing else changes it. Bundles that never apply events drop this table, as long as nothing here
 * runs when it is loaded.
 */
const effects: PerEvent<HeadDraft, void> = {
  'thread-created': applyThreadCreated,
  'agent-changed': applyAgentChanged,
  'messages-imported': applyMessagesImported,
  'message-added': applyMessageAdded,
  'message-retracted': applyMessageRetracted,
  'run-started': applyRunHeld,
  'run-renewed': applyRunHeld,
  'stop-requested': applyStopRequested,
  'run-ended': applyRunEnded,
  'approvals-released': applyApprovalsReleased,
  'step-finished': applyStepFinished,
  'request-opened': applyRequestOpened,
  'request-reminded': applyReminded,
  'request-closed': applyRequestClosed,
  'request-answered': applyRequestAnswered,
  'answer-delivered': applyAnswerDelivered,
  'request-voted': applyVoted,
  'vote-withdrawn': applyVoteWithdrawn,
  'request-reassigned': applyReassigned,
  'grant-created': applyGrantCreated,
  'grant-used': applyGrantUsed,
  'grant-revoked': applyGrantRevoked,
  'input-remade': applyInputRemade,
  'call-started': applyCallStarted,
  'call-deferred': applyCallDeferred,
  'call-lost': applyCallLost,
  'recovery-failed': applyRecoveryFailed,
  'call-abandoned': applyCallAbandoned,
  'call-ended': applyCallEnded,
  'late-result': () => undefined,
  'caller-changed': applyCallerChanged,
};

/** Applies events to a draft, in order. Throws `log-tampered` for one that can't follow the ones before it. */
export function applyEvents(draft: HeadDraft, events: readonly ThreadEvent[]): void {
  let before: ThreadEvent | undefined;
  for (const event of events) {
    if (event.type === 'messages-imported' && before?.type !== 'thread-created') {
      throw makeTamperedError(
        event,
        'it must follow the creation of the thread, in the same entry',
      );
    }
    callPerEvent(effects, event.type, event, draft);
    before = event;
  }
}

/** Events that follow a thread's state, and the head that the thread then has. */
export interface Appended {
  state: Readonly<ThreadState>;
  events: readonly ThreadEvent[];
  head: ThreadHead;
}

/**
 * Applies an entry of the log to `state`. Throws `log-tampered`, and changes nothing, if it can't follow. `onApplied` is called while the
 * state is still the one before.
 */
export function applyEntry(
  state: ThreadState,
  content: EntryContent,
  onApplied?: (appended: Appended) => void,
): void {
  const { threadId } = state;
  const { events } = content;
  const [first] = events;
  if (first === undefined) return;
  if (
    state.events.length === 0 &&
    !(first.type === 'thread-created' && first.threadId === threadId)
  ) {
    throw new HoldpointError(
      'log-tampered',
      `The log of thread ${threadId} does not begin with its creation.`,
    );
  }
  const draft = new HeadDraft(state.head, state.endedRequests);
  applyEvents(draft, events);
  const head = draft.finish();
  onApplied?.({ state, events, head });
  adopt(state, content, head);
}

/** Computes the head from all events of a thread; none of its messages and calls is past. */
export function replayEvents(events: readonly ThreadEvent[]): ThreadHead {
  const draft = new HeadDraft(makeEmptyThread('').head, new Map());
  applyEvents(draft, events);
  return draft.finish();
}

/** Makes `head`, to which the events of an entry were applied, the head of the thread. */
export function adopt(
  state: ThreadState,
  { events, hash, snapshot }: EntryContent,
  head: ThreadHead,
): void {
  const { messages, retracted, calls, requests, toolCallIds } = head.newlyPast;
  if (snapshot !== undefined) state.snapshotSize = measureThread(state);
  state.messages.length -= retracted;
  for (const message of messages) state.messages.push(message);
  for (const call of calls) state.pastCalls.push(call);
  for (const [requestId, ended] of requests) state.endedRequests.set(requestId, ended);
  for (const toolCallId of toolCallIds) state.toolCallIds.add(toolCallId);
  for (const event of events) state.events.push(event);
  state.entries.push({ revision: state.events.length, hash, snapshot });
  /*
   * The key of a call is derived from the log: from the hash of the entry that proposed it, which no two threads and no two steps share,
   * and from its place. So every copy of the thread gives the call the same key, long before it starts. All calls of a step are proposed by
   * one entry.
   */
  const keyed =
    head.calls[0]?.idempotencyKey === undefined
      ? head.calls.map((call) => ({
          ...call,
          idempotencyKey: `${hash}.${call.step}.${call.index}`,
        }))
      : head.calls;
  state.head = { ...head, calls: keyed, newlyPast: makeNewlyPast() };
}
