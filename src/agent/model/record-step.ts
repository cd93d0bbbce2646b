import type { AssistantModelMessage, ToolCallPart } from 'ai';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import {
  type AssistantPart,
  endsHere,
  partsOf,
  type ProviderRequest,
  requestsByCall,
} from '../../thread/proposed-calls.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { ModelStep, ProposedCall } from './model-step.ts';

/** A model step as it will stand in the log: what is decided on, shown, and run is read off this. */
export interface RecordedStep {
  message: AssistantModelMessage | undefined;
  /** The calls with the ids and inputs of `message`; `error` says why one must not run. */
  calls: ProposedCall[];
}

interface RecordInput {
  /** Every tool call id of the thread so far. */
  usedIds: ReadonlySet<string>;
  /** Whether the agent has a tool of this name. */
  isKnownTool: (toolName: string) => boolean;
  generateId: () => string;
}

/**
 * Makes a model step fit for the log. A call whose id was used before in the thread gets a fresh one, as providers
 * refuse histories that repeat ids; an input that is not strict JSON is left out, and its call refused.
 */
export function recordStep(
  step: ModelStep,
  { usedIds, isKnownTool, generateId }: RecordInput,
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
    const { providerApprovalId } = call;
    const isKnown = isKnownTool(call.toolName) || providerApprovalId !== undefined;
    const toolName = isKnown ? call.toolName : sendableName(call.toolName);
    const input = fault === undefined ? call.input : {};
    return { toolCallId, toolName, input, error, providerApprovalId };
  });
  return jsonCopy({ message: step.message && withCalls(step.message, calls), calls });
}

/* A name that a model made up stands in the history from now on, and must be one that every provider takes back. */
function sendableName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';
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

/** The message with the calls as they are recorded; none when nothing is left that a provider would take back. */
function withCalls(
  message: AssistantModelMessage,
  calls: readonly ProposedCall[],
): AssistantModelMessage | undefined {
  const parts = partsOf(message).filter((part) => !isBlank(part));
  /* Reasoning that nothing follows (the step was cut off in it) is refused when it comes back. */
  if (parts.every(({ type }) => type === 'reasoning')) return undefined;
  const requests = requestsByCall(parts);
  let index = 0;
  const content = parts.map((part) => {
    if (part.type === 'tool-approval-request') return recordedRequest(part, calls);
    if (part.type !== 'tool-call' || !endsHere(part, requests)) return part;
    const call = calls[index];
    index += 1;
    return call === undefined ? part : recordedPart(part, call);
  });
  return { ...message, content };
}

function recordedPart(
  part: ToolCallPart,
  { toolCallId, toolName, input, providerApprovalId }: ProposedCall,
): ToolCallPart {
  const recorded = { ...part, toolCallId, toolName, input };
  if (toolCallId === part.toolCallId || providerApprovalId !== undefined) return recorded;
  /* What a provider said of the call by its own id (stored items) would contradict the fresh one. */
  return { ...recorded, providerOptions: undefined };
}

/** A provider's request, of which the thread needs to know no more than what it is about. */
function recordedRequest(
  { type, approvalId, toolCallId }: ProviderRequest,
  calls: readonly ProposedCall[],
): ProviderRequest {
  const call = calls.find(({ providerApprovalId }) => providerApprovalId === approvalId);
  return { type, approvalId, toolCallId: call?.toolCallId ?? toolCallId };
}

/* Text of white space alone is refused when it comes back; text that a provider has notes on is the provider's own. */
function isBlank(part: AssistantPart): boolean {
  return part.type === 'text' && part.text.trim() === '' && part.providerOptions === undefined;
}
