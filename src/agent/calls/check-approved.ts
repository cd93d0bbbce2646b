import { type ApprovalRequest, withoutEdit } from '../../content/approval.ts';
import { plainCall, type ToolCallOutcome, type ToolCallRecord } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import { equalJson, shownDigest } from '../../policy/digest.ts';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import type { Decision } from '../../policy/tool-approval.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isExpired } from '../../thread/thread-head.ts';
import { closeEvents, unstartedOutcome } from './close-requests.ts';
import { applyRules, type RuleInput, ruleName } from './apply-rules.ts';
import type { DecisionInput } from './decide-calls.ts';
import { askAbout, askedAgain, providerRunner, type Runner } from './make-request.ts';
import { refuseUnanswerable } from './refuse-unanswerable.ts';
import { ownRunner, startEvent, type ToolDefinition } from './tool-definitions.ts';

/** An approved call, and the request that was shown for it. */
export interface ApprovedCall {
  call: ToolCallRecord;
  request: ApprovalRequest;
}

/**
 * The last check before an approved call starts: the events that start it (or let its provider run it), or those that record why it must
 * not. What was shown is recomputed from the stored bytes; if it differs, the call is asked about again.
 */
export async function checkApproved(
  input: DecisionInput,
  approved: ApprovedCall,
): Promise<ThreadEvent[]> {
  if (!isExpired(approved.request, input.now())) {
    const events = await eventsOfCheck(input, approved);
    /* Rules may have taken long. */
    if (!isExpired(approved.request, input.now())) return events;
  }
  const { call, request } = approved;
  const reason = 'The approval expired before the call started.';
  return closeEvents(request.requestId, call, { cause: 'expired', reason, at: input.now() });
}

async function eventsOfCheck(input: DecisionInput, approved: ApprovedCall): Promise<ThreadEvent[]> {
  const { providerApprovalId } = approved.call;
  return providerApprovalId === undefined
    ? checkOwn(input, approved)
    : checkForwarded(input, approved, providerApprovalId);
}

async function checkOwn(input: DecisionInput, approved: ApprovedCall): Promise<ThreadEvent[]> {
  const { call } = approved;
  const { step, index, toolName } = call;
  const at = input.now();
  const definition = input.tools.get(toolName);
  /* It waits for an agent that has the tool, perhaps another version of the app. */
  if (definition === undefined) return [];
  if (definition.asking !== undefined) {
    const error = `Not run: the tool '${toolName}' now asks a question and cannot run.`;
    return notRun(approved, error, at);
  }
  const changed = await eventsOfChanged(input, approved, ownRunner(definition));
  if (changed !== undefined) return changed;
  const decision = await applyRules(input.rules, definition, call);
  if (approved.request.edit !== undefined) {
    const asked = await demandsOfEdit(input.rules, definition, { ...approved, decision });
    if (asked !== undefined) return askEdited(input, approved, asked, ownRunner(definition));
  }
  if (decision.type !== 'deny') return [startEvent(definition, call, at)];
  const outcome = unstartedOutcome(call, decision.reason);
  return [{ type: 'call-ended', at, step, index, outcome }];
}

/** Our tools and rules do not apply to what the provider runs, whatever its name. */
async function checkForwarded(
  input: DecisionInput,
  approved: ApprovedCall,
  approvalId: string,
): Promise<ThreadEvent[]> {
  const { step, index, toolName } = approved.call;
  const runner = await providerRunner(toolName, approvalId);
  const outcome: ToolCallOutcome = { status: 'forwarded' };
  const forwarded: ThreadEvent = { type: 'call-ended', at: input.now(), step, index, outcome };
  return (await eventsOfChanged(input, approved, runner)) ?? [forwarded];
}

/** The events for a call whose stored bytes or runner differ from what was shown; `undefined` if nothing differs. */
async function eventsOfChanged(
  input: DecisionInput,
  approved: ApprovedCall,
  runner: Runner,
): Promise<ThreadEvent[] | undefined> {
  const { call, request } = approved;
  const fault = whyNotStrictJson(call.input);
  if (fault !== undefined) {
    return notRun(approved, `Not run: the stored input is damaged: ${fault}.`, input.now());
  }
  const { digest, toolCall } = request;
  const shown = await shownDigest(request, call, runner.digest);
  if (digest === shown && equalJson(toolCall?.input, call.input)) return undefined;
  return askAgain(input, approved, runner);
}

function notRun({ call, request }: ApprovedCall, error: string, at: number): ThreadEvent[] {
  const { step, index } = call;
  const { requestId } = request;
  const outcome: ToolCallOutcome =
    call.attempts === 0 ? { status: 'failed', error } : unstartedOutcome(call, error);
  return [
    { type: 'request-closed', at, requestId, cause: 'invalidated', reason: error },
    { type: 'call-ended', at, step, index, outcome },
  ];
}

async function askAgain(
  input: DecisionInput,
  approved: ApprovedCall,
  runner: Runner,
): Promise<ThreadEvent[]> {
  const reason = 'What was approved is not what would run: the call or the tool has changed since.';
  const asked = { ...askedAgain(approved.request), reason };
  return askInstead(input, approved, { asked, reason, runner });
}

/**
 * What must be asked about a call whose approval edited the input, because the rule demands something else for it than for the input that
 * was asked about; `undefined` if that approval is enough.
 */
async function demandsOfEdit(
  rules: RuleInput,
  definition: ToolDefinition,
  { call, request, decision }: ApprovedCall & { decision: Decision },
): Promise<Asked | undefined> {
  if (decision.type !== 'ask') return undefined;
  const unedited = { ...call, input: withoutEdit(request).toolCall?.input };
  const before = await applyRules(rules, definition, unedited);
  if (before.type === 'ask' && equalJson(demandsOf(before), demandsOf(decision))) return undefined;
  const { type: _type, ...asked } = decision;
  return { ...asked, reason: asked.reason ?? 'The input was edited.' };
}

function demandsOf({ terms = {} }: Asked): object {
  const { approvers, notRequester, quorum, requireReason, risk } = terms;
  return { approvers, notRequester, quorum, requireReason, risk };
}

/** The input was edited to one for which the rule demands another approval than the one that was given. */
async function askEdited(
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
  const setting = ruleName(input.rules.toolApproval, call.toolName);
  const why = refuseUnanswerable(input, asked, { setting, toolCall: plainCall(call) });
  if (why !== undefined) return notRun({ call, request }, `Not run. ${reason} ${why}`, input.now());
  const about = { toolCall: plainCall(call), place: { step, index }, runner };
  const next = await askAbout(input, asked, about);
  return [
    { type: 'request-closed', at: input.now(), requestId, cause: 'invalidated', reason },
    openedEvent(call, next),
  ];
}

/** The event that opens a request about a call. The call itself is in the assistant message and is not repeated. */
export function openedEvent(
  { step, index }: { step: number; index: number },
  request: UserInputRequest,
): ThreadEvent {
  const { toolCall: _stored, ...asked } = request;
  return { type: 'request-opened', at: request.createdAt, place: { step, index }, request: asked };
}
