import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { EndedRequest, OpenRequest, ThreadHead } from '../thread-head.ts';

/** An event, as errors name it. */
export interface AnyEvent {
  readonly type: string;
}

/** A copy of a thread's head to which events are being applied. */
export interface HeadDraft {
  /** Its fields, arrays and calls are written in place; its `openRequests` are not: `requests` replaces them. */
  readonly head: ThreadHead;
  /** The open requests by id. */
  readonly requests: Map<string, OpenRequest>;
  readonly endedRequests: Map<string, EndedRequest>;
}

/** Copies a head, so that events can be applied without changing it. */
export function draftOf(head: ThreadHead, endedRequests: HeadDraft['endedRequests']): HeadDraft {
  const { calls, unsentAnswers, queuedMessages, newlyPast, openRequests } = head;
  return {
    head: {
      ...head,
      calls: calls.map((call) => ({ ...call })),
      unsentAnswers: [...unsentAnswers],
      queuedMessages: [...queuedMessages],
      newlyPast: {
        messages: [...newlyPast.messages],
        retracted: newlyPast.retracted,
        calls: [...newlyPast.calls],
        requests: [...newlyPast.requests],
        toolCallIds: [...newlyPast.toolCallIds],
      },
    },
    requests: new Map(openRequests.map((open) => [open.request.requestId, open])),
    endedRequests,
  };
}

/** The head that a draft has become. The draft must not be written afterwards, as the two share their arrays and calls. */
export function headOf({ head, requests }: HeadDraft): ThreadHead {
  return { ...head, openRequests: [...requests.values()] };
}

/** The open call at a place. Throws `log-tampered` if there is none, or if it has another status. */
export function openCallAt(
  { head: { calls } }: HeadDraft,
  event: AnyEvent,
  place: CallPlace,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = calls[place.index];
  if (call?.step !== place.step || !statuses.includes(call.status)) {
    const status = call?.step === place.step ? call.status : 'absent';
    throw tampered(event, `call ${place.step}.${place.index} is ${status}`);
  }
  return call;
}

/** The error for an event that can't follow the ones before it. */
export function tampered(event: AnyEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: event '${event.type}' can't occur here, because ${why}.`,
  );
}
