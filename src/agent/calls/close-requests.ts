import type { CallPlace, ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { ClosedBy } from '../../content/user-input.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import {
  isUnstarted,
  callAt,
  type EndedRequest,
  isExpired,
  isSamePlace,
  type OpenRequest,
  computeRemindAt,
  type ThreadHead,
} from '../../thread/thread-head.ts';

/** The events that remind of requests whose time has come. */
export function makeReminders({ openRequests }: ThreadHead, now: number): ThreadEvent[] {
  const events: ThreadEvent[] = [];
  for (const open of openRequests) {
    if ((computeRemindAt(open) ?? Infinity) > now) continue;
    events.push({ type: 'request-reminded', at: now, requestId: open.request.requestId });
  }
  return events;
}

/** The events that end deferred calls whose result is overdue. */
export function makeOverdueEvents(head: ThreadHead, now: number): ThreadEvent[] {
  const events: ThreadEvent[] = [];
  for (const call of head.calls) {
    if (call.status !== 'deferred' || !isExpired(call, now)) continue;
    const end = endOfDeferred(call, 'The result did not arrive in time.');
    events.push(...endEvents(head, { ...end, at: now }));
  }
  return events;
}

/** Why and when something is closed, and by whom, where a person does it. */
interface Closing {
  reason: string;
  at: number;
  by?: ClosedBy | undefined;
}

/** The events that cancel open requests, deferred calls, and approvals that have not been used. */
export function cancelEvents(head: ThreadHead, cancelling: Closing): ThreadEvent[] {
  return [...cancelOpenEvents(head, cancelling), ...cancelApprovedEvents(head, cancelling)];
}

/** The events that cancel calls that could start, and approvals that a custom agent's next step would use. */
export function cancelApprovedEvents(head: ThreadHead, cancelling: Closing): ThreadEvent[] {
  const closing = { cause: 'cancelled', ...cancelling } as const;
  const unused = listUnusedApprovals(head).flatMap(({ request }) =>
    closeEvents(request.requestId, undefined, closing),
  );
  const calls = head.calls
    .filter(isUnstarted)
    .flatMap((call) => closeEvents(call.requestId, call, closing));
  return [...unused, ...calls];
}

/** The approvals that a custom agent's next step would use. */
export function listUnusedApprovals({ decided }: ThreadHead): EndedRequest[] {
  return decided.filter(
    ({ response, cause }) =>
      cause === undefined && response?.type === 'approval-response' && response.approved,
  );
}

/** The events that cancel what is open in the step. Requests made by the app itself are not part of the turn. */
export function makeInterruptEvents(
  head: ThreadHead,
  interrupting: Omit<Closing, 'reason'>,
): ThreadEvent[] {
  const openRequests = head.openRequests.filter(
    ({ place, beside, step }) => (place ?? beside ?? step) !== undefined,
  );
  return cancelEvents({ ...head, openRequests }, { reason: 'Interrupted', ...interrupting });
}

/** The events that cancel open requests and deferred calls. */
export function cancelOpenEvents(head: ThreadHead, cancelling: Closing): ThreadEvent[] {
  const { reason, at, by } = cancelling;
  const requests = head.openRequests.flatMap(({ request, place }) =>
    closeEvents(request.requestId, callAt(head, place), { cause: 'cancelled', ...cancelling }),
  );
  const deferred = head.calls
    .filter((call) => call.status === 'deferred')
    .map((call): ThreadEvent => ({ ...endOfDeferred(call, reason), ...pickSender(by), at }));
  return [...requests, ...deferred];
}

function endOfDeferred(
  { step, index, agent }: ToolCallRecord,
  reason: string,
): Omit<ThreadEventOf<'call-ended'>, 'at'> {
  const what =
    agent === undefined
      ? 'It continues elsewhere, and its outcome is not known here.'
      : `Agent '${agent.name}' was cancelled; what it has done is not undone.`;
  const error = `${reason} ${what}`;
  return { type: 'call-ended', step, index, outcome: { status: 'failed', error } };
}

/** The open requests that events cancel. */
export function listCancelled(
  events: readonly ThreadEvent[],
  { openRequests }: Pick<ThreadHead, 'openRequests'>,
): OpenRequest[] {
  const ids = new Set(
    events.flatMap((event) =>
      event.type === 'request-closed' && event.cause === 'cancelled' ? event.requestId : [],
    ),
  );
  return openRequests.filter(({ request }) => ids.has(request.requestId));
}

/** The events that close a request, and end its call if it has one. */
export function closeEvents(
  requestId: string | undefined,
  call: ToolCallRecord | undefined,
  { cause, reason, at, by }: { cause: 'expired' | 'cancelled' } & Closing,
): ThreadEvent[] {
  const events: ThreadEvent[] = [];
  if (requestId !== undefined)
    events.push({ type: 'request-closed', at, requestId, cause, reason, ...by });
  if (call !== undefined) {
    const { step, index } = call;
    const outcome = makeUnstartedOutcome(call, reason);
    events.push({ type: 'call-ended', at, step, index, outcome, ...pickSender(by) });
  }
  return events;
}

/** Who did something, without their name as text. */
export function pickSender({ principal, channel }: ClosedBy = {}): {
  principal?: unknown;
  channel?: string;
} {
  return {
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
  };
}

/** The outcome of a call that will not be started: denied, unless an earlier attempt may have taken effect. */
export function makeUnstartedOutcome(
  { attempts }: ToolCallRecord,
  reason: string | undefined,
): ToolCallOutcome {
  if (attempts === 0) return { status: 'denied', reason };
  const unknown = 'It was started before, and it is unknown whether that took effect.';
  return { status: 'failed', error: `Not started again. ${reason ?? ''} ${unknown}` };
}

/**
 * The event that ends a started call, preceded by those that close the questions asked during it, unless the events `before` have. `by`
 * is the person who ended the call, where one did.
 */
export function endEvents(
  head: ThreadHead,
  ended: ThreadEventOf<'call-ended'>,
  { before = [], by }: { before?: readonly ThreadEvent[]; by?: ClosedBy } = {},
): ThreadEvent[] {
  const past = new Set(before.map(readEndedRequestId));
  const openRequests = head.openRequests.filter(({ request }) => !past.has(request.requestId));
  const closing = { reason: 'The call has ended.', at: ended.at, by };
  return [...makeCloseDuringEvents({ openRequests }, ended, closing), ended];
}

function readEndedRequestId(event: ThreadEvent): string | undefined {
  if (event.type === 'request-answered') return event.response.requestId;
  return event.type === 'request-closed' ? event.requestId : undefined;
}

/** The events that close the questions asked during a call. */
export function makeCloseDuringEvents(
  { openRequests }: Pick<ThreadHead, 'openRequests'>,
  place: CallPlace,
  closing: Closing,
): ThreadEvent[] {
  return listAskedDuring({ openRequests }, place).flatMap(({ request }) =>
    closeEvents(request.requestId, undefined, { cause: 'cancelled', ...closing }),
  );
}

/** The open requests that were made during a call, by its tool or its sub-agent. */
export function listAskedDuring(
  { openRequests }: Pick<ThreadHead, 'openRequests'>,
  place: CallPlace,
): OpenRequest[] {
  return openRequests.filter(({ beside }) => isSamePlace(beside, place));
}
