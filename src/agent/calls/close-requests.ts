import { actTerms } from '../../content/act.ts';
import type { CallPlace, ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { ClosedBy } from '../../content/user-input.ts';
import { listAskedDuring } from '../../thread/open-requests.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  callAt,
  type EndedRequest,
  isExpired,
  isHeld,
  isRunning,
  isUnfinished,
  isUnusedApproval,
  type OpenRequest,
  computeRemindAt,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import { isRequestEvent, readRequestId } from '../../thread/request-events.ts';

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
    const end = endDeferred(call, { reason: 'The result did not arrive in time.', at: now });
    events.push(...endEvents(head, end));
  }
  return events;
}

/** The reason and time of a closing, and the person who closes, if there is one. */
interface Closing {
  reason: string;
  at: number;
  by?: ClosedBy | undefined;
}

/** The options of a cancellation of calls. */
interface Cancelling extends Closing {
  /** The name of the agent to which the tool of a call delegates it. A call says which only once that agent has waited. */
  findAgent: (call: ToolCallRecord) => string | undefined;
}

/** The events that cancel open requests, deferred calls, calls that could start, and these approvals. */
export function cancelEvents(
  { head, approvals }: { head: ThreadHead; approvals: readonly EndedRequest[] },
  cancelling: Cancelling,
): ThreadEvent[] {
  return [
    ...cancelOpenEvents(head, cancelling),
    ...cancelApprovals(head, approvals, cancelling),
    ...cancelUnaskedCalls(head, cancelling),
  ];
}

/** Makes the events that cancel the calls which need no approval and wait for their turn. */
export function cancelUnaskedCalls({ calls }: ThreadHead, cancelling: Closing): ThreadEvent[] {
  return calls
    .filter(({ status }) => status === 'proposed')
    .flatMap((call) => closeEvents(undefined, call, { cause: 'cancelled', ...cancelling }));
}

/** Makes the events that take back approvals which are not used yet, as `listUnstartedApprovals` lists them. */
export function cancelApprovals(
  head: ThreadHead,
  approvals: readonly EndedRequest[],
  cancelling: Closing,
): ThreadEvent[] {
  return approvals.flatMap(({ request, place }) =>
    closeEvents(request.requestId, callAt(head, place), { cause: 'cancelled', ...cancelling }),
  );
}

/** A thread, and its head as it is or would be. */
interface ApprovedThread {
  state: Pick<ThreadState, 'endedRequests'>;
  head: ThreadHead;
}

/**
 * Lists the recorded approvals that are not used yet, including held ones: those of calls, and those that a custom agent's next step would
 * use.
 */
export function listUnstartedApprovals(thread: ApprovedThread): EndedRequest[] {
  const { calls, decided } = thread.head;
  const approved = calls.filter(({ status }) => status === 'approved');
  return [...listApprovalsOf(approved, thread), ...decided.filter(isUnusedApproval)];
}

/** Lists the recorded approvals that a stop holds, including those of calls that would be started again. */
export function listHeldApprovals(thread: ApprovedThread): EndedRequest[] {
  const { calls, decided } = thread.head;
  return [...listApprovalsOf(calls.filter(isHeld), thread), ...decided.filter(isHeld)];
}

function listApprovalsOf(
  calls: readonly ToolCallRecord[],
  { state: { endedRequests }, head: { newlyPast } }: ApprovedThread,
): EndedRequest[] {
  return calls.flatMap(({ requestId = '', held }): EndedRequest[] => {
    const ended = newlyPast.requests.get(requestId) ?? endedRequests.get(requestId);
    return ended === undefined ? [] : [{ ...ended, held }];
  });
}

/**
 * Makes the events that cancel the open requests and calls of the step, and these approvals. Requests made by the app itself are not part
 * of the turn.
 */
export function makeInterruptEvents(
  { head, approvals }: { head: ThreadHead; approvals: readonly EndedRequest[] },
  interrupting: Omit<Cancelling, 'reason'>,
): ThreadEvent[] {
  const openRequests = head.openRequests.filter(
    ({ place, beside, step }) => (place ?? beside ?? step) !== undefined,
  );
  const interrupted = { head: { ...head, openRequests }, approvals };
  const { reason } = actTerms['answer-question'];
  return cancelEvents(interrupted, { reason, ...interrupting });
}

/** The events that cancel open requests, deferred calls, and delegated ones whose process has died: their sub-agents may hold approvals. */
export function cancelOpenEvents(head: ThreadHead, cancelling: Cancelling): ThreadEvent[] {
  const { at, findAgent } = cancelling;
  const nameAgent = (call: ToolCallRecord): string | undefined =>
    call.agent?.name ?? findAgent(call);
  const requests = head.openRequests.flatMap(({ request, place }) =>
    closeEvents(request.requestId, callAt(head, place), { cause: 'cancelled', ...cancelling }),
  );
  const isLost = (call: ToolCallRecord): boolean =>
    nameAgent(call) !== undefined && isUnfinished(call) && !isRunning(head, at);
  const awaited = head.calls
    .filter((call) => call.status === 'deferred' || isLost(call))
    .map((call) => endDeferred(call, cancelling, nameAgent(call)));
  return [...requests, ...awaited];
}

/**
 * The events that cancel the open requests which people have cancelled in the thread above, and nothing else. A deferred call that asked
 * them ends, too, if `isOver` says that it waits for nothing else.
 */
export function cancelSomeEvents(
  head: ThreadHead,
  cancelledBy: ReadonlyMap<string, ClosedBy>,
  { reason, at, isOver }: Omit<Closing, 'by'> & { isOver: (call: ToolCallRecord) => boolean },
): ThreadEvent[] {
  const ended = new Map<ToolCallRecord, ClosedBy>();
  const closed = head.openRequests.flatMap(({ request, place, beside }): ThreadEvent[] => {
    const by = cancelledBy.get(request.requestId);
    if (by === undefined) return [];
    const asking = callAt(head, beside);
    if (asking !== undefined && isOver(asking)) ended.set(asking, by);
    const cancelling = { cause: 'cancelled', reason, at, by } as const;
    return closeEvents(request.requestId, callAt(head, place), cancelling);
  });
  return [...closed, ...[...ended].map(([call, by]) => endDeferred(call, { reason, at, by }))];
}

function endDeferred(
  { step, index, agent: working }: ToolCallRecord,
  { reason, at, by }: Closing,
  agent = working?.name,
): ThreadEventOf<'call-ended'> {
  const what =
    agent === undefined
      ? 'It continues elsewhere, and its outcome is not known here.'
      : `Agent '${agent}' was cancelled; what it has done is not undone.`;
  const error = `${reason} ${what}`;
  const outcome = { status: 'failed', error } as const;
  return { type: 'call-ended', at, step, index, outcome, ...pickSender(by) };
}

/** Lists those of the requests that the events cancel. */
export function listCancelled<REQUEST extends OpenRequest>(
  events: readonly ThreadEvent[],
  requests: readonly REQUEST[],
): REQUEST[] {
  const ids = new Set(
    events.flatMap((event) =>
      event.type === 'request-closed' && event.cause === 'cancelled' ? event.requestId : [],
    ),
  );
  return requests.filter(({ request }) => ids.has(request.requestId));
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

/** Picks the sender, without their name as text. */
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
  const past = new Set(before.filter((event) => isRequestEvent(event, 'ends')).map(readRequestId));
  const asked = listAskedDuring(head, ended).filter(({ request }) => !past.has(request.requestId));
  return [...closeAsked(asked, { reason: 'The call has ended.', at: ended.at, by }), ended];
}

/** The events that close the questions asked during a call. */
export function makeCloseDuringEvents(
  head: Pick<ThreadHead, 'openRequests'>,
  place: CallPlace,
  closing: Closing,
): ThreadEvent[] {
  return closeAsked(listAskedDuring(head, place), closing);
}

function closeAsked(asked: readonly OpenRequest[], closing: Closing): ThreadEvent[] {
  return asked.flatMap(({ request }) =>
    closeEvents(request.requestId, undefined, { cause: 'cancelled', ...closing }),
  );
}
