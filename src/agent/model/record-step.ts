import type { AssistantModelMessage, ToolCallPart } from 'ai';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import {
  type AssistantPart,
  endsHere,
  listAssistantParts,
  type ProviderRequest,
  requestsByCall,
} from '../../thread/proposed-calls.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import type { ModelStep, ProposedCall } from './model-step.ts';

/** A model step as recorded. Decisions, requests and executions all use it. */
interface RecordedStep {
  message: AssistantModelMessage | undefined;
  /** The calls, with the ids and inputs of `message`; `error` says why one must not run. */
  calls: ProposedCall[];
}

interface RecordInput {
  /** All tool call ids of the thread. */
  usedIds: ReadonlySet<string>;
  /** The agent's tools, by name. */
  tools: ReadonlyMap<string, unknown>;
  generateId: () => string;
}

/**
 * Prepares a model step for the log. A call whose id was used before in the thread gets a new one, as providers reject histories with
 * repeated ids. An input that is not strict JSON is left out, and its call is refused.
 */
export function recordStep(
  step: ModelStep,
  { usedIds, tools, generateId }: RecordInput,
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
    const isKnown = tools.has(call.toolName) || providerApprovalId !== undefined;
    const toolName = isKnown ? call.toolName : toSendableName(call.toolName);
    const input = fault === undefined ? call.input : {};
    return { toolCallId, toolName, input, error, providerApprovalId };
  });
  return copyAsLogged({ message: step.message && withCalls(step.message, calls), calls });
}

/* An invented name stays in the history, which every provider must accept. */
function toSendableName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';
}

/* A step that was cut off may lack a call that belongs to the others; two calls with one id can't be told apart. */
function whyStepIsRefused({ finishReason, calls }: ModelStep): string | undefined {
  if (finishReason !== 'stop' && finishReason !== 'tool-calls') {
    return `Not run: the response was cut off (${finishReason}). Make the call again if it is still needed.`;
  }
  if (calls.length > 1 && new Set(calls.map(({ toolCallId }) => toolCallId)).size < calls.length) {
    return 'Not run: two calls of this step had the same id. Make them again, one at a time.';
  }
  return undefined;
}

/** The message with the recorded calls; `undefined` if nothing is left that a provider would accept. */
function withCalls(
  message: AssistantModelMessage,
  calls: readonly ProposedCall[],
): AssistantModelMessage | undefined {
  const parts = listAssistantParts(message).filter((part) => !isBlank(part));
  /* Providers reject reasoning that nothing follows. */
  if (parts.every(({ type }) => type === 'reasoning')) return undefined;
  const requests = requestsByCall(parts);
  let index = 0;
  const content = parts.map((part) => {
    if (part.type === 'tool-approval-request') return recordProviderRequest(part, calls);
    if (part.type !== 'tool-call' || !endsHere(part, requests)) return part;
    const call = calls[index];
    index += 1;
    return call === undefined ? part : recordPart(part, call);
  });
  return { ...message, content };
}

function recordPart(
  part: ToolCallPart,
  { toolCallId, toolName, input, providerApprovalId }: ProposedCall,
): ToolCallPart {
  const recorded = { ...part, toolCallId, toolName, input };
  if (toolCallId === part.toolCallId || providerApprovalId !== undefined) return recorded;
  return { ...recorded, providerOptions: omitItemId(part.providerOptions) };
}

/** Provider metadata of a call that gets another id, without the old one, as OpenAI has it. All else goes back, such as a thought signature. */
export function omitItemId(
  options: ToolCallPart['providerOptions'] = {},
): ToolCallPart['providerOptions'] {
  const kept = Object.entries(options).map(
    ([provider, { itemId: _old, ...own }]) => [provider, own] as const,
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** A provider's request, reduced to what the thread needs. */
function recordProviderRequest(
  { type, approvalId, toolCallId }: ProviderRequest,
  calls: readonly ProposedCall[],
): ProviderRequest {
  const call = calls.find(({ providerApprovalId }) => providerApprovalId === approvalId);
  return { type, approvalId, toolCallId: call?.toolCallId ?? toolCallId };
}

/* Providers reject blank text, unless it carries their own metadata. */
function isBlank(part: AssistantPart): boolean {
  return part.type === 'text' && part.text.trim() === '' && part.providerOptions === undefined;
}
