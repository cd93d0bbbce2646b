import { type ApprovalRequest, undoEdit } from '../../content/approval.ts';
import {
  pickToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { Decision } from '../../policy/tool-approval.ts';
import type { Asked } from '../../policy/user-approval.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { makeUnstartedOutcome } from './close-requests.ts';
import { type DecisionInput, applyRules, nameRule } from './decide-calls.ts';
import {
  askAbout,
  repeatAsked,
  makeOpenedEvent,
  makeOwnRunner,
  refuseUnanswerable,
  type Runner,
} from './make-request.ts';
import type { ToolDefinition } from './tool-definitions.ts';
import type { RuleInput } from './rule-parameters.ts';

/* What becomes of an approval that must not start its call: the call is asked about again, or fails. */

/** An approved call, the request that was shown for it, and when its approval becomes too old to start it. */
export interface ApprovedCall {
  call: ToolCallRecord;
  request: ApprovalRequest;
  startBy?: number | undefined;
}

/** Why an approval doesn't count any more. */
export const outdated = {
  changed: 'What was approved is not what would run: the call or the tool has changed since.',
  late: 'It was approved, but did not start within the time for which an approval counts.',
} as const;

/** The events that ask again about a call whose approval doesn't count any more. */
export async function askAgain(
  input: DecisionInput,
  approved: ApprovedCall,
  { reason, runner, definition }: { reason: string; runner: Runner; definition?: ToolDefinition },
): Promise<ThreadEvent[]> {
  const asked = { ...(await findAsked(input.rules, approved, definition)), reason };
  return askInstead(input, approved, { asked, reason, runner });
}

/**
 * What to ask again: the same, or what the rule demands for an edited input. A later edit is compared with the input that is then asked about,
 * so that must be on its own terms.
 */
async function findAsked(
  rules: RuleInput,
  { call, request }: ApprovedCall,
  definition: ToolDefinition | undefined,
): Promise<Asked> {
  if (definition === undefined || request.edit === undefined) return repeatAsked(request);
  const decision = await applyRules(rules, definition, call);
  const demanded = await findEditDemands(rules, definition, { call, request, decision });
  return demanded ?? repeatAsked(request);
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
  const { approvers, notRequester, quorum, requireReason, startWithinMs, risk } = terms;
  return { approvers, notRequester, quorum, requireReason, startWithinMs, risk };
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

/** The events that ask again about an input that was edited to one which the tool does not take: people may edit it again, or reject it. */
export async function askUnfit(
  input: DecisionInput,
  approved: ApprovedCall,
  { why, definition }: { why: string; definition: ToolDefinition },
): Promise<ThreadEvent[]> {
  const reason = `The edited input was not run: ${why}.`;
  const runner = makeOwnRunner(definition, input.rules.messages);
  return askAgain(input, approved, { reason, runner, definition });
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
