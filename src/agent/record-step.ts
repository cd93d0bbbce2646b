import type { AssistantModelMessage } from 'ai';
import { whyNotStrictJson } from '../policy/strict-json.ts';
import { jsonCopy } from '../thread/event-text.ts';
import type { ModelStep, ProposedCall } from './model-step.ts';

/** A model step as it will stand in the log: what is decided on, shown, and run is read off this. */
export interface RecordedStep {
  message: AssistantModelMessage | undefined;
  /** The calls with the ids and inputs of `message`; `error` says why one must not run. */
  calls: ProposedCall[];
}

/**
 * Makes a model step fit for the log. A call whose id was used before in the thread gets a fresh one, as providers
 * refuse histories that repeat ids; an input that is not strict JSON is left out, and its call refused.
 */
export function recordStep(
  step: ModelStep,
  usedIds: ReadonlySet<string>,
  generateId: () => string,
): RecordedStep {
  const refusal = whyStepIsRefused(step);
  const seen = new Set<string>();
  const calls = step.calls.map((call): ProposedCall => {
    const repeated = usedIds.has(call.toolCallId) || seen.has(call.toolCallId);
    seen.add(call.toolCallId);
    const toolCallId = repeated ? generateId() : call.toolCallId;
    const fault = whyNotStrictJson(call.input);
    const error =
      refusal ?? call.error ?? (fault && `Not run: the input can't be shown exactly: ${fault}.`);
    return { ...call, toolCallId, input: fault === undefined ? jsonCopy(call.input) : {}, error };
  });
  return { message: step.message && withCalls(step.message, calls), calls };
}

/* A cut-off step may lack the call that would undo another; two calls of one id can't be told apart by a person. */
function whyStepIsRefused({ finishReason, calls }: ModelStep): string | undefined {
  if (finishReason !== 'stop' && finishReason !== 'tool-calls') {
    return `Not run: the answer was cut off (${finishReason}). Make the call again if it is still needed.`;
  }
  if (new Set(calls.map(({ toolCallId }) => toolCallId)).size < calls.length) {
    return 'Not run: two calls of this step had the same id. Make them again, one at a time.';
  }
  return undefined;
}

function withCalls(
  message: AssistantModelMessage,
  calls: readonly ProposedCall[],
): AssistantModelMessage {
  if (typeof message.content === 'string') return jsonCopy(message);
  let index = 0;
  const content = message.content.map((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted === true) return part;
    const call = calls[index];
    index += 1;
    if (call === undefined) return part;
    const { toolCallId, input } = call;
    /* What a provider said of the call it named otherwise (stored item ids) would contradict the fresh id. */
    const renamed = toolCallId !== part.toolCallId && { providerOptions: undefined };
    return { ...part, toolCallId, input, ...renamed };
  });
  return jsonCopy({ ...message, content });
}
