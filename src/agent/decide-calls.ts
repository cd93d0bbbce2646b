import type { ApprovalRequest } from '../content/approval.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { CallPlace, ToolCall, ToolCallOutcome } from '../content/tool-call.ts';
import { applyRules, type RuleInput } from './apply-rules.ts';
import { type Asked, type AskedCall, makeRequest, type RequestMaking } from './make-request.ts';
import type { ProposedCall } from './model-step.ts';
import { type Asking, questionOf } from './question-call.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** What is to happen with one call of a step. */
export type CallVerdict =
  | { type: 'start'; definition: ToolDefinition }
  | { type: 'ask'; request: UserInputRequest }
  | { type: 'end'; outcome: ToolCallOutcome };

/** What is decided with. */
export interface DecisionInput extends RequestMaking {
  tools: ToolDefinitions;
  rules: RuleInput;
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
  if (decision.type === 'deny') {
    return { type: 'end', outcome: { status: 'denied', reason: decision.reason } };
  }
  /* A call that asks a person does nothing else; what a rule would have them approve is that they are asked. */
  if (definition.asking !== undefined) return askPerson(input, definition.asking, toolCall);
  switch (decision.type) {
    case 'run':
      return { type: 'start', definition };
    case 'ask':
      return {
        type: 'ask',
        request: await askAbout(input, decision, { toolCall, place, definition }),
      };
  }
}

function askPerson(input: DecisionInput, asking: Asking, toolCall: ToolCall): CallVerdict {
  const asked = questionOf(input, asking, toolCall);
  return 'request' in asked
    ? { type: 'ask', request: asked.request }
    : { type: 'end', outcome: { status: 'failed', error: asked.error } };
}

/** The request for the approval of a call. Where the rule says nothing else, the tool's name is the text. */
export async function askAbout(
  input: RequestMaking,
  asked: Partial<Asked>,
  { toolCall, place, definition }: Omit<AskedCall, 'toolDigest'> & { definition: ToolDefinition },
): Promise<ApprovalRequest> {
  const text = `The agent wants to call ${definition.tool.title ?? definition.name}.`;
  const { digest } = definition;
  return makeRequest(input, { text, ...asked }, { toolCall, place, toolDigest: digest });
}
