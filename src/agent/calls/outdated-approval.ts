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
import { type MadeAgain, makeRemadeEvents, whyNotShown } from './made-input.ts';
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

/* Handles an approval whose call must not start: the call is asked about again, or fails. */

/** An approved call, the request that was shown for it, and when its approval becomes too old to start it. See ADR 36. */
export interface ApprovedCall {
  call: ToolCallRecord;
  request: ApprovalRequest;
  startBy?: number | undefined;
}

/** The reasons why an approval no longer counts. */
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
 * Finds the request to ask again: the same, or the one that the rule demands for an edited input. A later edit is compared with the input
 * that is then asked about, so the request must have that input's own terms.
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
 * Finds the request that the rule demands for an input that the approval edited, if it differs from the one for the original input;
 * `undefined` if that approval is enough.
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

/** Makes the events that ask about an edited input for which the rule demands another approval than the one that was given. */
export async function askEdited(
  input: DecisionInput,
  approved: ApprovedCall,
  asked: Asked,
  runner: Runner,
): Promise<ThreadEvent[]> {
  const reason = 'The rule demands another approval for the edited input.';
  return askInstead(input, approved, { asked, reason, runner });
}

/**
 * Makes the events that ask about another value than was approved: the tool's schema now makes it from the same input. It asks once for a
 * call, as a schema that makes another value each time would ask forever; and never about a call that was started before.
 */
export async function askRemade(
  input: DecisionInput,
  approved: ApprovedCall,
  { remade, definition }: { remade: MadeAgain; definition: ToolDefinition },
): Promise<ThreadEvent[]> {
  const { call, request } = approved;
  const { json, types } = remade.form;
  const why = whyNotAskedAgain(call, remade);
  if (why !== undefined) {
    const problem = `Not run: the input schema of tool '${definition.name}' ${why}.`;
    const setting = `tools.${definition.name}.inputSchema`;
    input.rules.report({ setting, kind: 'invalid', problem, toolCall: pickToolCall(call) });
    return makeUnrunEvents(approved, problem, input.now());
  }
  const changed = { ...call, input: json, inputTypes: types };
  const decision = await applyRules(input.rules, definition, changed);
  const at = input.now();
  if (decision.type === 'deny') return endUnstarted(call, decision.reason, at);
  if (decision.type === 'fail') return makeUnrunEvents(approved, decision.error, at);
  const what = call.edit === undefined ? 'the input' : 'the input that a person has edited';
  const reason = `The input schema of tool '${definition.name}' now makes another value of ${what}.`;
  /* The text of the request may contain the value that was approved. */
  const again = decision.type === 'ask' ? decision : { ...repeatAsked(request), text: undefined };
  const asking = { asked: { ...again, reason: again.reason ?? reason }, reason };
  const runner = makeOwnRunner(definition, input.rules.messages);
  const about = { call: changed, request };
  return askInstead(input, about, {
    ...asking,
    runner,
    before: makeRemadeEvents(call, remade, at),
  });
}

/** Finds the reason why people are not asked about the value that the schema makes now; `undefined` if they are. */
function whyNotAskedAgain(
  { isRemade, attempts }: ToolCallRecord,
  { form: { json, types } }: MadeAgain,
): string | undefined {
  if (isRemade === true) return 'makes another value each time';
  if (attempts > 0) return 'now makes another value than the one with which the call was started';
  const why = whyNotShown(json, types);
  return why && `now makes a value that people can't be shown exactly: ${why}`;
}

/** The request that is asked instead, why, and the events to record before it. */
interface Asking {
  asked: Asked;
  reason: string;
  runner: Runner;
  before?: readonly ThreadEvent[];
}

/** The events that close a request and ask about its call in another one. */
async function askInstead(
  input: DecisionInput,
  { call, request }: ApprovedCall,
  { asked, reason, runner, before = [] }: Asking,
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
    ...before,
    makeOpenedEvent(call, next),
  ];
}

/** The event that ends an approved call which a rule denies now. */
export function endUnstarted(
  call: ToolCallRecord,
  reason: string | undefined,
  at: number,
): ThreadEvent[] {
  const { step, index } = call;
  return [{ type: 'call-ended', at, step, index, outcome: makeUnstartedOutcome(call, reason) }];
}

/** The events that end a call which must not run although it was approved: `error` is for the model, `reason` for people. */
export function makeUnrunEvents(
  { call, request }: ApprovedCall,
  error: string,
  at: number,
  reason = error,
): ThreadEvent[] {
  const { step, index } = call;
  const { requestId } = request;
  const outcome: ToolCallOutcome =
    call.attempts === 0 ? { status: 'failed', error } : makeUnstartedOutcome(call, error);
  return [
    { type: 'request-closed', at, requestId, cause: 'invalidated', reason },
    { type: 'call-ended', at, step, index, outcome },
  ];
}
