import type { CallPlace, ToolCall, ToolCallOutcome } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { ProposedCall } from '../model/model-step.ts';
import { applyRules, type RuleInput } from './apply-rules.ts';
import { askAbout, providerRunner, type RequestMaking } from './make-request.ts';
import { type Asking, questionOf } from './question-call.ts';
import { type ToolDefinition, type ToolDefinitions, ownRunner } from './tool-definitions.ts';

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

/** A verdict for each call of a step, in its order. Nothing that is doubtful runs. */
export async function decideCalls(
  input: DecisionInput,
  calls: readonly ProposedCall[],
  step: number,
): Promise<CallVerdict[]> {
  return Promise.all(
    calls.map(async (call, index): Promise<CallVerdict> => {
      const { toolName, error, providerApprovalId } = call;
      if (error !== undefined) return failed(error);
      const place = { step, index };
      if (providerApprovalId !== undefined)
        return askForProvider(input, call, place, providerApprovalId);
      const definition = input.tools.get(toolName);
      return definition === undefined
        ? failed(`Not run: there is no tool '${toolName}'.`)
        : decideCall(input, definition, call, place);
    }),
  );
}

function failed(error: string): CallVerdict {
  return { type: 'end', outcome: { status: 'failed', error } };
}

/** Rules are for what runs here: a call that the provider asks about always needs a person's word. */
async function askForProvider(
  input: DecisionInput,
  call: ProposedCall,
  place: CallPlace,
  approvalId: string,
): Promise<CallVerdict> {
  const toolCall = shownCall(call);
  const runner = await providerRunner(toolCall.toolName, approvalId);
  return { type: 'ask', request: await askAbout(input, {}, { toolCall, place, runner }) };
}

function shownCall({ toolCallId, toolName, input }: ProposedCall): ToolCall {
  return { toolCallId, toolName, input };
}

async function decideCall(
  input: DecisionInput,
  definition: ToolDefinition,
  call: ProposedCall,
  place: CallPlace,
): Promise<CallVerdict> {
  const toolCall = shownCall(call);
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
        request: await askAbout(input, decision, {
          toolCall,
          place,
          runner: ownRunner(definition),
        }),
      };
  }
}

function askPerson(input: DecisionInput, asking: Asking, toolCall: ToolCall): CallVerdict {
  const asked = questionOf(input, asking, toolCall);
  return 'request' in asked ? { type: 'ask', request: asked.request } : failed(asked.error);
}
