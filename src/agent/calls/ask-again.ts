import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import { describeExpiry } from '../../content/describe-expiry.ts';
import {
  pickToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { Decision } from '../../policy/tool-approval.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { callAt, isExpired, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { applyRules, type RuleInput, nameRule } from './apply-rules.ts';
import { makeUnstartedOutcome, type FollowUps, isAskedAgain } from './close-requests.ts';
import type { DecisionInput } from './decide-calls.ts';
import {
  askAbout,
  repeatAsked,
  makeOpenedEvent,
  refuseUnanswerable,
  type Runner,
  makeRequest,
  makeProviderRunner,
  type RequestMaking,
} from './make-request.ts';
import { type ToolDefinition, makeOwnRunner, type ToolDefinitions } from './tool-definitions.ts';

/** An approved call, and the request that was shown for it. */
export interface ApprovedCall {
  call: ToolCallRecord;
  request: ApprovalRequest;
}

/** The events that ask again about a call that is not what was approved. */
export async function askAgain(
  input: DecisionInput,
  approved: ApprovedCall,
  runner: Runner,
): Promise<ThreadEvent[]> {
  const reason = 'What was approved is not what would run: the call or the tool has changed since.';
  const asked = { ...repeatAsked(approved.request), reason };
  return askInstead(input, approved, { asked, reason, runner });
}

/**
 * What must be asked about a call whose approval edited the input, because the rule demands something else for it than for the input that
 * was asked about; `undefined` if that approval is enough.
 */
export async function findEditDemands(
  rules: RuleInput,
  definition: ToolDefinition,
  { call, request, decision }: ApprovedCall & { decision: Decision },
): Promise<Asked | undefined> {
  if (decision.type !== 'ask') return undefined;
  const unedited = { ...call, input: undoEdit(request).toolCall?.input };
  const before = await applyRules(rules, definition, unedited);
  if (before.type === 'ask' && isEqualJson(pickDemands(before), pickDemands(decision)))
    return undefined;
  const { type: _type, ...asked } = decision;
  return { ...asked, reason: asked.reason ?? 'The input was edited.' };
}

function pickDemands({ terms = {} }: Asked): object {
  const { approvers, notRequester, quorum, requireReason, risk } = terms;
  return { approvers, notRequester, quorum, requireReason, risk };
}

/** The events that ask about an input that was edited to one for which the rule demands another approval than the one that was given. */
export async function askEdited(
  input: DecisionInput,
  approved: ApprovedCall,
  asked: Asked,
  runner: Runner,
): Promise<ThreadEvent[]> {
  const reason = 'The rule demands another approval for the edited input.';
  return askInstead(input, approved, { asked, reason, runner });
}

/** The events that close a request and ask about its call in another one. */
async function askInstead(
  input: DecisionInput,
  { call, request }: ApprovedCall,
  { asked, reason, runner }: { asked: Asked; reason: string; runner: Runner },
): Promise<ThreadEvent[]> {
  const { step, index } = call;
  const { requestId } = request;
  const setting = nameRule(input.rules.toolApproval, call.toolName);
  const why = refuseUnanswerable(input, asked, { setting, toolCall: pickToolCall(call) });
  if (why !== undefined)
    return makeUnrunEvents({ call, request }, `Not run. ${reason} ${why}`, input.now());
  const about = { toolCall: pickToolCall(call), place: { step, index }, runner };
  const next = await askAbout(input, asked, about);
  return [
    { type: 'request-closed', at: input.now(), requestId, cause: 'invalidated', reason },
    makeOpenedEvent(call, next),
  ];
}

/** The events that end a call which must not run although it was approved. */
export function makeUnrunEvents(
  { call, request }: ApprovedCall,
  error: string,
  at: number,
): ThreadEvent[] {
  const { step, index } = call;
  const { requestId } = request;
  const outcome: ToolCallOutcome =
    call.attempts === 0 ? { status: 'failed', error } : makeUnstartedOutcome(call, error);
  return [
    { type: 'request-closed', at, requestId, cause: 'invalidated', reason: error },
    { type: 'call-ended', at, step, index, outcome },
  ];
}

/* What becomes of an approval that must not start its call: the call is asked about again, or fails. */

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
