import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import { describeExpiry } from '../../content/describe-expiry.ts';
import { callAt, isExpired, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { type FollowUps, isAskedAgain } from './close-requests.ts';
import {
  askAbout,
  repeatAsked,
  makeRequest,
  makeProviderRunner,
  type RequestMaking,
  type Runner,
  refuseUnanswerable,
  makeOpenedEvent,
} from './make-request.ts';
import { makeOwnRunner, type ToolDefinitions } from './tool-definitions.ts';

/** The requests that follow those of the thread that have expired, made before they are recorded. */
export function followUpsFor(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ToolDefinitions,
  state: Readonly<ThreadState>,
): Promise<FollowUps> | undefined {
  return state.head.openRequests.some(isAskedAgain)
    ? makeFollowUps(context, tools, state)
    : undefined;
}

async function makeFollowUps(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ToolDefinitions,
  state: Readonly<ThreadState>,
): Promise<FollowUps> {
  const now = context.now();
  const expired = state.head.openRequests.filter(
    (open) => isAskedAgain(open) && isExpired(open.request, now),
  );
  const made = await Promise.all(
    expired.map(async (open): Promise<[string, ThreadEvent | { why: string }]> => {
      const { requestId } = open.request;
      return [requestId, await makeFollowUp(context, tools, state, open)];
    }),
  );
  return new Map(made);
}

async function makeFollowUp(
  context: Omit<RequestMaking, 'threadId' | 'requestedBy'>,
  tools: ToolDefinitions,
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
  const { approvers, expiresAfterMs, isLast } = describeExpiry(request.onExpiry).next ?? {};
  return {
    ...again,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(approvers === undefined ? {} : { terms: { ...again.terms, approvers } }),
    ...(isLast === true ? { onExpiry: undefined } : {}),
  };
}

async function findRunner(
  tools: ToolDefinitions,
  { toolName, providerApprovalId }: { toolName: string; providerApprovalId?: string | undefined },
): Promise<Runner | undefined> {
  if (providerApprovalId !== undefined) return makeProviderRunner(toolName, providerApprovalId);
  const definition = tools.get(toolName);
  return definition && makeOwnRunner(definition);
}
