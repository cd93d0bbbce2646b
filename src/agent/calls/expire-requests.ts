import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import { describeDeadlineAction, type NextRequest } from '../../content/deadline-action.ts';
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

/** The events that open the next request for an expired one, or the reason why there is none, by the id of the expired one. */
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
  const { reason, end } = readDeadline(open);
  const closing = { cause: 'expired' as const, reason, at: now };
  switch (end.type) {
    case 'denial':
      return closeEvents(requestId, callAt(head, place), closing);
    case 'request': {
      const next = followUps?.get(requestId);
      if (next === undefined) return [];
      if ('type' in next) return [...closeEvents(requestId, undefined, closing), next];
      const failed = { ...closing, reason: `${reason} ${next.why}` };
      return closeEvents(requestId, callAt(head, place), failed);
    }
  }
}

/** Reads what follows a request that expires, and why it is closed. A sub-agent itself asks again about its own calls. */
function readDeadline({
  request,
  beside,
}: OpenRequest): Pick<ReturnType<typeof describeDeadlineAction>, 'reason' | 'end'> {
  if (request.type === 'question-request')
    return { reason: 'The question expired unanswered.', end: { type: 'denial' } };
  const { reason, end } = describeDeadlineAction(request.onExpiry);
  return { reason, end: beside === undefined ? end : { type: 'denial' } };
}

/**
 * Makes the requests that follow the thread's expired ones, before they are recorded. `withoutTool` says what happens to a request whose
 * tool is missing here: a run denies its call, as no other process may ever have the tool; an answer leaves it to a run.
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
  const made = state.head.openRequests.flatMap((open) => {
    if (!isExpired(open.request, now)) return [];
    const { end } = readDeadline(open);
    if (end.type !== 'request' || isLeft(open)) return [];
    const { requestId } = open.request;
    const making = makeFollowUp(context, tools, state, { open, next: end });
    return [making.then((event) => [requestId, event] as const)];
  });
  return new Map(await Promise.all(made));
}

async function makeFollowUp(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ReadonlyMap<string, OwnTool>,
  { threadId, head }: Readonly<ThreadState>,
  { open: { request: expired, place, step }, next }: { open: OpenRequest; next: NextRequest },
): Promise<ThreadEvent | { why: string }> {
  if (expired.type !== 'approval-request') return { why: 'It was a question.' };
  /* Too few people approved the edit. */
  const request = undoEdit(expired);
  const { requestedBy, requesters, toolCall, text } = request;
  const { now, generateId, mayAnswer, report } = context;
  const making = { threadId, requestedBy, requesters, now, generateId, mayAnswer, report };
  const asked = { ...describeNextRequest(request, next), follows: request.requestId };
  const setting = toolCall === undefined ? 'requestApproval' : `toolApproval.${toolCall.toolName}`;
  const unanswerable = refuseUnanswerable(making, asked, { setting, toolCall });
  if (unanswerable !== undefined) return { why: unanswerable };
  const call = callAt(head, place);
  if (call === undefined || toolCall === undefined) {
    const made = await makeRequest(making, { ...asked, text });
    return { type: 'request-opened', at: made.createdAt, step, request: made };
  }
  const runner = await findRunner(tools, call);
  if (runner === undefined) {
    return { why: `Nobody else was asked: this agent has no tool '${call.toolName}'.` };
  }
  const { step: callStep, index } = call;
  const about = { toolCall, place: { step: callStep, index }, runner };
  return makeOpenedEvent(call, await askAbout(making, asked, about));
}

/** Describes the next request: it asks the same of the same people, or of those to whom it is escalated. */
function describeNextRequest(
  request: ApprovalRequest,
  next: NextRequest,
): ReturnType<typeof repeatAsked> {
  const again = repeatAsked(request);
  const { expiresAfterMs, isLast } = next;
  const { quorum = 1, ...terms } = { ...again.terms, ...next.terms };
  return {
    ...again,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    terms: { ...terms, ...(quorum === 1 ? {} : { quorum }) },
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
