import type { ApprovalRequest } from '../content/approval.ts';
import type { CallPlace, ToolCall, ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import { requestDigest } from '../policy/digest.ts';
import { whyNotStrictJson } from '../policy/strict-json.ts';
import type { NewThreadEvent } from '../thread/thread-event.ts';
import type { ThreadHead, ThreadState } from '../thread/thread-state.ts';
import { closeEvents, outcomeUnstarted } from './close-requests.ts';
import { applyRules } from './apply-rules.ts';
import { askAbout, type DecisionInput } from './decide-calls.ts';
import { beginningOf, type ToolDefinition } from './tool-definitions.ts';

/** An approved call, and what was shown of it. */
export interface ApprovedCall {
  call: ToolCallRecord;
  request: ApprovalRequest;
}

/**
 * The events that start an approved call, or that say why it may not start: the last look before it runs. What was
 * shown is recomputed from the stored bytes; what is not equal is asked again (design, rule 4).
 */
export async function checkApproved(
  input: DecisionInput,
  approved: ApprovedCall,
): Promise<NewThreadEvent[]> {
  const { call, request } = approved;
  const { step, index, toolCallId, toolName } = call;
  const at = input.now();
  if ((request.expiresAt ?? Infinity) <= at) {
    const reason = 'The approval expired before the call began.';
    return closeEvents(request.requestId, call, { cause: 'expired', reason, at });
  }
  const definition = input.tools.get(toolName);
  if (definition === undefined) {
    return notRun(approved, `Not run: the tool '${toolName}' no longer exists.`, at);
  }
  if (definition.asking !== undefined) {
    return notRun(approved, `Not run: the tool '${toolName}' asks by now, and runs nothing.`, at);
  }
  const fault = whyNotStrictJson(call.input);
  if (fault !== undefined)
    return notRun(approved, `Not run: the stored input is damaged: ${fault}.`, at);
  const toolCall = { toolCallId, toolName, input: call.input };
  if (!(await isAsShown(request, toolCall, call, definition))) {
    return askAgain(input, approved, { toolCall, place: { step, index }, definition });
  }
  const decision = await applyRules(input.rules, definition, toolCall);
  if (decision.type !== 'deny') return [beginningOf(definition, call, at)];
  const outcome = outcomeUnstarted(call, decision.reason);
  return [{ type: 'call-ended', at, step, index, outcome }];
}

async function isAsShown(
  { digest, ...shown }: ApprovalRequest,
  toolCall: ToolCall,
  place: CallPlace,
  definition: ToolDefinition,
): Promise<boolean> {
  return digest === (await requestDigest({ ...shown, toolCall }, place, definition.digest));
}

function notRun({ call, request }: ApprovedCall, error: string, at: number): NewThreadEvent[] {
  const { step, index } = call;
  const { requestId } = request;
  const outcome: ToolCallOutcome =
    call.attempts === 0 ? { status: 'failed', error } : outcomeUnstarted(call, error);
  return [
    { type: 'request-closed', at, requestId, cause: 'invalidated', reason: error },
    { type: 'call-ended', at, step, index, outcome },
  ];
}

async function askAgain(
  input: DecisionInput,
  { call, request }: ApprovedCall,
  about: Parameters<typeof askAbout>[2],
): Promise<NewThreadEvent[]> {
  const { requestId, text, expiresAt, createdAt } = request;
  const reason = 'What was approved is not what would run: the call or the tool has changed since.';
  const expiresAfterMs = expiresAt === undefined ? undefined : expiresAt - createdAt;
  const again = await askAbout(input, { text, reason, expiresAfterMs }, about);
  return [
    { type: 'request-closed', at: input.now(), requestId, cause: 'invalidated', reason },
    openedEvent(call, again),
  ];
}

/** The event that asks about a call; the call itself stands in the assistant message, and is not repeated. */
export function openedEvent(
  { step, index }: { step: number; index: number },
  request: UserInputRequest,
): NewThreadEvent {
  const { toolCall: _stored, ...asked } = request;
  return { type: 'request-opened', at: request.createdAt, place: { step, index }, request: asked };
}

/** The calls of a head that a person approved and that have not begun, each with what was shown. */
export function approvedCalls(state: ThreadState, head: ThreadHead): ApprovedCall[] {
  const justEnded = new Map(
    head.settling.requests.map((ended) => [ended.request.requestId, ended]),
  );
  return head.calls.flatMap((call) => {
    if (call.status !== 'approved' || call.requestId === undefined) return [];
    const ended = justEnded.get(call.requestId) ?? state.endedRequests.get(call.requestId);
    return ended?.request.type === 'approval-request' ? [{ call, request: ended.request }] : [];
  });
}

/** What was found out about the approved calls of a head, for those that are approved still. */
export function eventsOfApproved(
  head: ThreadHead,
  starts: ReadonlyMap<string, readonly NewThreadEvent[]>,
): NewThreadEvent[] {
  return head.calls
    .filter((call) => call.status === 'approved')
    .flatMap((call) => starts.get(call.requestId ?? '') ?? []);
}
