import type { JSONValue, ToolResultPart } from 'ai';
import type { ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';

/** What the model is told of a call that has ended. Throws for one that has not. */
export function toolResultPart(call: ToolCallRecord): ToolResultPart {
  const { toolCallId, toolName, outcome } = call;
  if (outcome === undefined) throw new TypeError(`Call ${toolCallId} has no result yet.`);
  return { type: 'tool-result', toolCallId, toolName, output: modelOutput(outcome) };
}

function modelOutput(outcome: ToolCallOutcome): ToolResultPart['output'] {
  switch (outcome.status) {
    case 'succeeded':
      return outcome.modelOutput ?? defaultModelOutput(outcome.output);
    case 'failed':
      return { type: 'error-text', value: outcome.error };
    case 'denied':
      return {
        type: 'execution-denied',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
  }
}

/** What the AI SDK makes of a tool's output when the tool has no `toModelOutput`. */
function defaultModelOutput(output: JSONValue): ToolResultPart['output'] {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output };
}
