import type { ApprovalRequest } from '../content/approval.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { requestDigest } from '../policy/digest.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadHead, ThreadState } from '../thread/thread-state.ts';
import { closeEvents } from './accept-input.ts';
import { applyRules } from './apply-rules.ts';
import { type DecisionInput, makeRequest } from './decide-calls.ts';

/**
 * The events that start an approved call, or that say why it may not start: the last look before it runs. What was
 * shown is recomputed from the stored bytes; what is not equal is asked again (design, rule 4).
 */
export async function checkApproved(
  input: DecisionInput,
  call: ToolCallRecord,
  request: ApprovalRequest,
): Promise<ThreadEvent[]> {
  const { step, index, toolCallId, toolName } = call;
  const at = input.now();
  const { requestId, digest, ...shown } = request;
  if ((request.expiresAt ?? Infinity) <= at) {
    const reason = 'The approval expired before the call began.';
    return closeEvents(requestId, call, { cause: 'expired', reason, at });
  }
  const definition = input.tools.get(toolName);
  if (definition === undefined) {
    const error = `Not run: the tool '${toolName}' no longer exists.`;
    return [
      { type: 'request-closed', at, requestId, cause: 'invalidated', reason: error },
      { type: 'call-ended', at, step, index, outcome: { status: 'failed', error } },
    ];
  }
  const toolCall = { toolCallId, toolName, input: call.input };
  const now = await requestDigest({ ...shown, requestId, toolCall }, call, definition.digest);
  if (now !== digest) {
    const reason =
      'What was approved is not what would run: the call or the tool has changed since.';
    const { text, expiresAt, createdAt } = request;
    const expiresAfterMs = expiresAt === undefined ? undefined : expiresAt - createdAt;
    const again = await makeRequest(input, definition, toolCall, call, {
      text,
      reason,
      expiresAfterMs,
    });
    return [
      { type: 'request-closed', at, requestId, cause: 'invalidated', reason },
      openedEvent(call, again),
    ];
  }
  const decision = await applyRules(input.rules, definition, toolCall);
  if (decision.type === 'deny') {
    const outcome = { status: 'denied', reason: decision.reason } as const;
    return [{ type: 'call-ended', at, step, index, outcome }];
  }
  return [{ type: 'call-started', at, step, index }];
}

/** The event that asks about a call; the call itself stands in the assistant message, and is not repeated. */
export function openedEvent(
  { step, index }: { step: number; index: number },
  request: ApprovalRequest,
): ThreadEvent {
  const { toolCall: _stored, ...asked } = request;
  return { type: 'request-opened', at: request.createdAt, place: { step, index }, request: asked };
}

/** The calls of a head that a person approved and that have not begun, each with what was shown. */
export function approvedCalls(
  state: ThreadState,
  head: ThreadHead,
): { call: ToolCallRecord; request: ApprovalRequest }[] {
  const justEnded = new Map(
    head.settling.requests.map((ended) => [ended.request.requestId, ended]),
  );
  return head.calls.flatMap((call) => {
    if (call.status !== 'approved' || call.requestId === undefined) return [];
    const ended = justEnded.get(call.requestId) ?? state.endedRequests.get(call.requestId);
    return ended?.request.type === 'approval-request' ? [{ call, request: ended.request }] : [];
  });
}

export function eventsOfApproved(
  head: ThreadHead,
  starts: ReadonlyMap<string, readonly ThreadEvent[]>,
): ThreadEvent[] {
  return head.calls
    .filter((call) => call.status === 'approved')
    .flatMap((call) => starts.get(call.requestId ?? '') ?? []);
}
