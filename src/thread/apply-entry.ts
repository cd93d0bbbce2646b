import type { ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import type { EntryContent } from './log-entry.ts';
import { applyEvents } from './events/apply-events.ts';
import type { ThreadEvent } from './thread-event.ts';
import { nothingPast, type ThreadHead } from './thread-head.ts';
import { emptyThread, sizeOf, type ThreadState } from './thread-state.ts';

import { draftOf, headOf } from './events/head-draft.ts';

/** Applies an entry of the log to `state`. Throws `log-tampered`, and changes nothing, if it can't follow. */
export function applyEntry(state: ThreadState, content: EntryContent): void {
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
  const draft = draftOf(state.head, state.endedRequests);
  applyEvents(draft, events);
  adopt(state, content, headOf(draft));
}

/** The head to which the events of a thread, from the first one, add up; none of its messages and calls is past. */
export function replayed(events: readonly ThreadEvent[]): ThreadHead {
  const draft = draftOf(emptyThread('').head, new Map());
  applyEvents(draft, events);
  return headOf(draft);
}

/** Makes `head`, to which the events of an entry were applied, the head of the thread. */
export function adopt(
  state: ThreadState,
  { events, hash, snapshot }: EntryContent,
  head: ThreadHead,
): void {
  const { messages, retracted, calls, requests, toolCallIds } = head.newlyPast;
  if (snapshot !== undefined) state.snapshotSize = sizeOf(state);
  state.messages.length -= retracted;
  for (const message of messages) state.messages.push(message);
  for (const call of calls) state.pastCalls.push(call);
  for (const ended of requests) state.endedRequests.set(ended.request.requestId, ended);
  for (const toolCallId of toolCallIds) state.toolCallIds.add(toolCallId);
  for (const event of events) state.events.push(event);
  state.entries.push({ revision: state.events.length, hash, snapshot });
  state.head = { ...head, calls: withKeys(head.calls, hash), newlyPast: nothingPast() };
}

/*
 * The key of a call is derived from the log: from the hash of the entry that proposed it, which no two threads and no two steps share,
 * and from its place. So every copy of the thread gives the call the same key, long before it starts.
 */
function withKeys(calls: ToolCallRecord[], hash: string): ToolCallRecord[] {
  /* All calls of a step are proposed by one entry. */
  if (calls[0]?.idempotencyKey !== undefined) return calls;
  return calls.map((call) => ({ ...call, idempotencyKey: `${hash}.${call.step}.${call.index}` }));
}
