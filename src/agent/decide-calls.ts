import type { ApprovalRequest } from '../content/approval.ts';
import type { CallPlace, ToolCall, ToolCallOutcome } from '../content/tool-call.ts';
import { requestDigest } from '../policy/digest.ts';
import type { Decision } from '../policy/tool-approval.ts';
import { applyRules, type RuleInput } from './apply-rules.ts';
import type { ProposedCall } from './model-step.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** What is to happen with one call of a step. */
export type CallVerdict =
  | { type: 'start' }
  | { type: 'ask'; request: ApprovalRequest }
  | { type: 'end'; outcome: ToolCallOutcome };

/** What is decided with. */
export interface DecisionInput {
  threadId: string;
  tools: ToolDefinitions;
  rules: RuleInput;
  now: () => number;
  generateId: () => string;
}

/** A verdict for each call of a step, in its order. Nothing that is doubtful runs (design, rules 3 and 8). */
export async function decideCalls(
  input: DecisionInput,
  calls: readonly ProposedCall[],
  step: number,
): Promise<CallVerdict[]> {
  return Promise.all(
    calls.map(async (call, index): Promise<CallVerdict> => {
      const definition = input.tools.get(call.toolName);
      if (definition === undefined || call.error !== undefined) {
        const error = call.error ?? `Not run: there is no tool '${call.toolName}'.`;
        return { type: 'end', outcome: { status: 'failed', error } };
      }
      return decideCall(input, definition, call, { step, index });
    }),
  );
}

async function decideCall(
  input: DecisionInput,
  definition: ToolDefinition,
  call: ProposedCall,
  place: CallPlace,
): Promise<CallVerdict> {
  const { toolCallId, toolName, input: callInput } = call;
  const toolCall: ToolCall = { toolCallId, toolName, input: callInput };
  const decision = await applyRules(input.rules, definition, toolCall);
  switch (decision.type) {
    case 'run':
      return { type: 'start' };
    case 'deny':
      return { type: 'end', outcome: { status: 'denied', reason: decision.reason } };
    case 'ask':
      return {
        type: 'ask',
        request: await makeRequest(input, definition, toolCall, place, decision),
      };
  }
}

/** A request for the approval of a call, bound to the call and the tool by its digest. */
export async function makeRequest(
  { threadId, now, generateId }: Pick<DecisionInput, 'threadId' | 'now' | 'generateId'>,
  definition: ToolDefinition,
  toolCall: ToolCall,
  place: CallPlace,
  { text, reason, expiresAfterMs }: Omit<Extract<Decision, { type: 'ask' }>, 'type'>,
): Promise<ApprovalRequest> {
  const createdAt = now();
  const request: Omit<ApprovalRequest, 'digest'> = {
    type: 'approval-request',
    requestId: generateId(),
    threadId,
    text: (
      text ?? `The agent wants to call ${definition.tool.title ?? toolCall.toolName}.`
    ).toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    toolCall,
    createdAt,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: createdAt + expiresAfterMs }),
  };
  return { ...request, digest: await requestDigest(request, place, definition.digest) };
}
