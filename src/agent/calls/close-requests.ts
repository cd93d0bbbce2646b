import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import { describeDeadlineAction } from '../../content/deadline-action.ts';
import type { CallPlace, ToolCallOutcome, ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputResponseContent, ClosedBy } from '../../content/user-input.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import { isUnstarted } from '../../thread/thread-status.ts';
import {
  callAt,
  type EndedRequest,
  isExpired,
  isSamePlace,
  type OpenRequest,
  computeRemindAt,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import {
  askAbout,
  makeOpenedEvent,
  makeOwnRunner,
  makeProviderRunner,
  makeRequest,
  type OwnTool,
  refuseUnanswerable,
  repeatAsked,
  type RequestMaking,
  type Runner,
} from './make-request.ts';

/** For an expired request that is asked again: the events that open the next one, or why there is none. By the id of the expired one. */
export type FollowUps = ReadonlyMap<string, ThreadEvent | { why: string }>;

/**
 * The events that close expired requests, except those answered in the same input. A request whose `followUps` were not made, because it
 * has only just expired, stays open until the next run.
 */
export function makeExpiryEvents(
  head: ThreadHead,
  answers: readonly UserInputResponseContent[],
  { now, followUps }: { now: number; followUps: FollowUps | undefined },
): ThreadEvent[] {
  const events: ThreadEvent[] = [];
  for (const open of head.openRequests) {
    if (!isExpired(open.request, now)) continue;
    if (answers.some(({ requestId }) => requestId === open.request.requestId)) continue;
    events.push(...expire(head, open, { now, followUps }));
  }
  return events;
}

function expire(
  head: ThreadHead,
  open: OpenRequest,
  { now, followUps }: { now: number; followUps: FollowUps | undefined },
): ThreadEvent[] {
  const { request, place } = open;
  const { requestId } = request;
  const reason =
    request.type === 'question-request'
      ? 'The question expired unanswered.'
      : describeDeadlineAction(request.onExpiry).reason;
  const closing = { cause: 'expired' as const, reason, at: now };
  if (!isAskedAgain(open)) return closeEvents(requestId, callAt(head, place), closing);
  const next = followUps?.get(requestId);
  if (next === undefined) return [];
  if ('type' in next) return [...closeEvents(requestId, undefined, closing), next];
  const failed = { ...closing, reason: `${reason} ${next.why}` };
  return closeEvents(requestId, callAt(head, place), failed);
}

/** Whether another request follows when this one expires. A sub-agent does that itself for its own requests. */
function isAskedAgain({ request, beside }: OpenRequest): boolean {
  if (request.type !== 'approval-request' || beside !== undefined) return false;
  return describeDeadlineAction(request.onExpiry).next !== undefined;
}

/** The requests that follow those of the thread that have expired, made before they are recorded; `undefined` if none can follow. */
export async function makeFollowUps(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ReadonlyMap<string, OwnTool>,
  state: Readonly<ThreadState>,
): Promise<FollowUps | undefined> {
  const askedAgain = state.head.openRequests.filter(isAskedAgain);
  if (askedAgain.length === 0) return undefined;
  const now = context.now();
  const made = await Promise.all(
    askedAgain
      .filter(({ request }) => isExpired(request, now))
      .map(async (open): Promise<[string, ThreadEvent | { why: string }]> => {
        const { requestId } = open.request;
        return [requestId, await makeFollowUp(context, tools, state, open)];
      }),
  );
  return new Map(made);
}

async function makeFollowUp(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ReadonlyMap<string, OwnTool>,
  { threadId, head }: Readonly<ThreadState>,
  { request: expired, place, step }: OpenRequest,
): Promise<ThreadEvent | { why: string }> {
  if (expired.type !== 'approval-request') return { why: 'It was a question.' };
  /* Too few people approved the edit. */
  const request = undoEdit(expired);
  const { requestedBy, requesters, toolCall, text } = request;
  const { now, generateId, mayAnswer, report } = context;
  const making = { threadId, requestedBy, requesters, now, generateId, mayAnswer, report };
  const asked = { ...describeNextRequest(request), follows: request.requestId };
  const setting = toolCall === undefined ? 'requestApproval' : `toolApproval.${toolCall.toolName}`;
  const unanswerable = refuseUnanswerable(making, asked, { setting, toolCall });
  if (unanswerable !== undefined) return { why: unanswerable };
  const call = callAt(head, place);
  if (call === undefined || toolCall === undefined) {
    const next = await makeRequest(making, { ...asked, text });
    return { type: 'request-opened', at: next.createdAt, step, request: next };
  }
  const runner = await findRunner(tools, call);
  if (runner === undefined) {
    return { why: `Nobody else was asked: this agent has no tool '${call.toolName}'.` };
  }
  const { step: callStep, index } = call;
  const about = { toolCall, place: { step: callStep, index }, runner };
  return makeOpenedEvent(call, await askAbout(making, asked, about));
}

/** What the next request asks: the same of the same people, or of those to whom it is escalated. */
function describeNextRequest(request: ApprovalRequest): ReturnType<typeof repeatAsked> {
  const again = repeatAsked(request);
  const { approvers, expiresAfterMs, isLast } = describeDeadlineAction(request.onExpiry).next ?? {};
  return {
    ...again,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(approvers === undefined ? {} : { terms: { ...again.terms, approvers } }),
    ...(isLast === true ? { onExpiry: undefined } : {}),
  };
}

async function findRunner(
  tools: ReadonlyMap<string, OwnTool>,
  { toolName, providerApprovalId }: { toolName: string; providerApprovalId?: string | undefined },
): Promise<Runner | undefined> {
  if (providerApprovalId !== undefined) return makeProviderRunner(toolName, providerApprovalId);
  const definition = tools.get(toolName);
  return definition && makeOwnRunner(definition);
}

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

/** Why and when something is cancelled, and by whom, where a person does it. */
export interface Cancelling {
  reason: string;
  at: number;
  by?: ClosedBy | undefined;
}

/** The events that cancel open requests, deferred calls, and approvals that have not been used. */
export function cancelEvents(head: ThreadHead, cancelling: Cancelling): ThreadEvent[] {
  return [...cancelOpenEvents(head, cancelling), ...cancelApprovedEvents(head, cancelling)];
}

/** The events that cancel calls that could start, and approvals that a custom agent's next step would use. */
export function cancelApprovedEvents(head: ThreadHead, cancelling: Cancelling): ThreadEvent[] {
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
  interrupting: Omit<Cancelling, 'reason'>,
): ThreadEvent[] {
  const openRequests = head.openRequests.filter(
    ({ place, beside, step }) => (place ?? beside ?? step) !== undefined,
  );
  return cancelEvents({ ...head, openRequests }, { reason: 'Interrupted', ...interrupting });
}

/** The events that cancel open requests and deferred calls. */
export function cancelOpenEvents(head: ThreadHead, cancelling: Cancelling): ThreadEvent[] {
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
  { cause, reason, at, by }: { cause: 'expired' | 'cancelled' } & Cancelling,
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
  if (head.openRequests.length === 0) return [ended];
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
  closing: Cancelling,
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
