import type { AssistantModelMessage, ToolCallPart } from 'ai';
import { type JsonForm, type JsonTypes, readForm } from '../../json/json-form.ts';
import { isEqualJson } from '../../policy/digest.ts';
import {
  type AssistantPart,
  endsHere,
  listAssistantParts,
  type ProviderRequest,
  requestsByCall,
} from '../../thread/proposed-calls.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';
import type { ModelCall, ModelStep } from './model-step.ts';

/** A call as it is recorded. */
export interface ProposedCall extends Omit<ModelCall, 'made' | 'given'> {
  /** The JSON form of the input that its schema made. */
  input: unknown;
  /** The types of the parts of the input that are not plain JSON. */
  inputTypes?: JsonTypes | undefined;
}

/** A model step as recorded. Decisions, requests and executions all use it. */
interface RecordedStep {
  message: AssistantModelMessage | undefined;
  /** The calls, with the ids and inputs of `message`; `error` says why one must not run. */
  calls: ProposedCall[];
  /** The records of inputs that differ from what their schemas were given. */
  inputs: NonNullable<ThreadEventOf<'step-finished'>['inputs']>;
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
 * repeated ids. An input that readers may understand differently is left out, and its call is refused.
 */
export function recordStep(
  step: ModelStep,
  { usedIds, tools, generateId }: RecordInput,
): RecordedStep {
  const refusal = whyStepIsRefused(step);
  const seen = new Set<string>();
  const inputs: RecordedStep['inputs'] = [];
  const calls = step.calls.map((call, index): ProposedCall => {
    const repeated = usedIds.has(call.toolCallId) || seen.has(call.toolCallId);
    seen.add(call.toolCallId);
    const toolCallId = repeated ? generateId() : call.toolCallId;
    const form = readForms(call);
    const fault = 'fault' in form ? form.fault : undefined;
    const error =
      refusal ?? call.error ?? (fault && `Not run: the input can't be recorded exactly: ${fault}.`);
    const { providerApprovalId } = call;
    const isKnown = tools.has(call.toolName) || providerApprovalId !== undefined;
    const toolName = isKnown ? call.toolName : toSendableName(call.toolName);
    const proposed = { toolCallId, toolName, error, providerApprovalId };
    if ('fault' in form) return { ...proposed, input: {} };
    const { json: input, types: inputTypes, given } = form;
    if (given !== undefined) inputs.push({ index, ...given, types: inputTypes });
    return { ...proposed, input, inputTypes };
  });
  return copyAsLogged({ message: step.message && withCalls(step.message, calls), calls, inputs });
}

/** Reads the form of a call's input, and the input that its schema was given, if it differs. */
function readForms({
  made,
  given,
}: ModelCall): (JsonForm & { given?: { given: unknown } }) | { fault: string } {
  const form = readForm(made);
  if ('fault' in form || made === given) return form;
  const before = readForm(given);
  if ('fault' in before) return before;
  const isSame = form.types === undefined && isEqualJson(before.json, form.json);
  return isSame ? form : { ...form, given: { given: before.json } };
}

/* An invented name stays in the history, which every provider must accept. */
function toSendableName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';
}

/* A step that was cut off may lack a call that belongs to the others; two calls with one id can't be distinguished. */
function whyStepIsRefused(step: ModelStep): string | undefined {
  const { finishReason, calls } = step;
  if (finishReason !== 'stop' && finishReason !== 'tool-calls') {
    return `Not run: the response was cut off (${describeFinish(step)}). Make the call again if it is still needed.`;
  }
  if (calls.length > 1 && new Set(calls.map(({ toolCallId }) => toolCallId)).size < calls.length) {
    return 'Not run: two calls of this step had the same id. Make them again, one at a time.';
  }
  return undefined;
}

/* The AI SDK reports `other` for reasons that it has no name for. */
function describeFinish({ finishReason, rawFinishReason: raw }: ModelStep): string {
  if (raw !== undefined && raw !== finishReason) {
    return `${finishReason}: the provider says '${raw.slice(0, 100).toWellFormed()}'`;
  }
  return finishReason === 'other' ? 'other: the provider gives no reason' : finishReason;
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

/**
 * Copies the provider metadata of a call that gets another id, without the old id that OpenAI puts there. Everything else is sent back,
 * such as a thought signature.
 */
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
