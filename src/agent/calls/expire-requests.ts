import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import { describeDeadlineAction } from '../../content/deadline-action.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { callAt, isExpired, type OpenRequest, type ThreadHead } from '../../thread/thread-head.ts';
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
import { closeEvents } from './close-requests.ts';

/** For an expired request that is asked again: the events that open the next one, or why there is none. By the id of the expired one. */
export type FollowUps = ReadonlyMap<string, ThreadEvent | { why: string }>;

/**
 * The events that close expired requests, except those answered in the same input. A request whose `followUps` were not made, because it
 * has only just expired or its tool is elsewhere, stays open until the next run.
 */
export function makeExpiryEvents(
  head: ThreadHead,
  answers: readonly UserInputResponseContent[],
  { now, followUps }: { now: number; followUps: FollowUps | undefined },
): ThreadEvent[] {
  const events: ThreadEvent[] = [];
  const answered = new Set(answers.map(({ requestId }) => requestId));
  for (const open of head.openRequests) {
    if (!isExpired(open.request, now)) continue;
    if (answered.has(open.request.requestId)) continue;
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

/**
 * The requests that follow those of the thread that have expired, made before they are recorded. `withoutTool` says what becomes of one whose
 * tool is not here: a run denies its call, as nobody else may ever have the tool; who only answers leaves it to a run.
 */
export async function makeFollowUps(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ReadonlyMap<string, OwnTool>,
  state: Readonly<ThreadState>,
  { withoutTool = 'deny' }: { withoutTool?: 'deny' | 'leave' | undefined },
): Promise<FollowUps> {
  const now = context.now();
  const isLeft = ({ place }: OpenRequest): boolean => {
    const call = callAt(state.head, place);
    const isOwn = call !== undefined && call.providerApprovalId === undefined;
    return withoutTool === 'leave' && isOwn && !tools.has(call.toolName);
  };
  const made = await Promise.all(
    state.head.openRequests
      .filter((open) => isExpired(open.request, now) && isAskedAgain(open) && !isLeft(open))
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
