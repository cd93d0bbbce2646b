import {
  type AssistantModelMessage,
  generateText,
  type Instructions,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  systemModelMessageSchema,
  type ToolSet,
  userModelMessageSchema,
} from 'ai';
import { errorText } from '../../content/error-text.ts';
import { endsHere, partsOf, type ProviderRequest } from '../../thread/proposed-calls.ts';
import type { StepMetadata } from '../../thread/thread-event.ts';
import { answerableRequests, carriesApproval } from './provider-requests.ts';
import { type DeltaReceiver, originalError, streamingModel } from './streaming-model.ts';
import { type ModelPlace, tracedModel } from './traced-model.ts';

/** What may come in from outside, as the AI SDK defines it. */
export const inputMessageSchemas = {
  user: userModelMessageSchema,
  system: systemModelMessageSchema,
};

const settingNames = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'maxRetries',
  'headers',
  'providerOptions',
  'toolChoice',
  'activeTools',
  'toolOrder',
  'repairToolCall',
  'telemetry',
  'experimental_download',
  'allowSystemInMessages',
] as const;

/** The settings of `generateText` that an agent passes on as they are. */
export type ModelSettings = Pick<Parameters<typeof generateText>[0], (typeof settingNames)[number]>;

/** The settings alone: the AI SDK must never see what decides, `toolApproval` first of all. */
export function settingsOf(options: ModelSettings): ModelSettings {
  const given = settingNames.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

/** What one model step is made of. */
export interface ModelStepInput {
  model: LanguageModel;
  /** For tracing. */
  place: ModelPlace;
  instructions?: Instructions | undefined;
  settings: ModelSettings;
  tools: ToolSet;
  messages: ModelMessage[];
  /** Of this, telemetry gets what `telemetry.includeRuntimeContext` names. */
  runtimeContext?: unknown;
  signal?: AbortSignal | undefined;
  /** Who hears the model while it speaks; without one, it does not stream. */
  receiver?: DeltaReceiver | undefined;
}

/** A call as the model proposed it and the AI SDK parsed and repaired it. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** Why the AI SDK refused it: no such tool, or an input that is not the schema's. */
  error?: string | undefined;
  /** By what the provider asks whether it may run the call itself; none for a call that is ours to run. */
  providerApprovalId?: string | undefined;
}

/** What the model answered. */
export interface ModelStep {
  /** The assistant message for the history; none when the model said nothing. */
  message?: AssistantModelMessage;
  /** The calls that are ours to run, and those that the provider asks about, in the model's order. */
  calls: ProposedCall[];
  finishReason: string;
  usage: LanguageModelUsage;
  /** What the provider returned beside the message. */
  metadata: StepMetadata;
}

/** One model step: one call of the AI SDK, whose tools have nothing to execute. */
export async function generateStep(stepInput: ModelStepInput): Promise<ModelStep> {
  const result = await generate(stepInput);
  const message = result.responseMessages.find(({ role }) => role === 'assistant');
  const requests = answerableRequests(partsOf(message), stepInput.messages);
  return {
    ...(message?.role === 'assistant' ? { message } : {}),
    calls: result.toolCalls
      .filter((call) => endsHere(call, requests))
      .map((call) => proposedCall(call, requests.get(call.toolCallId))),
    finishReason: result.finishReason,
    usage: result.usage,
    metadata: metadataOf(result),
  };
}

/* An id that begins so was made by the AI SDK, where the provider gave none. */
const madeId = /^aitxt-/;

function metadataOf({ finalStep, sources }: GenerateResult): StepMetadata {
  const {
    response: { id, modelId },
    providerMetadata,
  } = finalStep;
  return {
    response: { ...(madeId.test(id) ? {} : { id }), modelId },
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
    ...(sources.length === 0 ? {} : { sources }),
  };
}

type GenerateResult = Awaited<ReturnType<typeof generateText>>;

async function generate(stepInput: ModelStepInput): Promise<GenerateResult> {
  const { model, instructions, settings, tools, messages, runtimeContext, signal, receiver } =
    stepInput;
  const asked = receiver === undefined ? model : streamingModel(model, receiver);
  try {
    return await generateText({
      ...settings,
      ...(carriesApproval(messages) ? { maxRetries: 0 } : {}),
      repairToolCall: repairOwn(settings.repairToolCall),
      model: tracedModel(asked, stepInput.place),
      messages,
      tools,
      ...(instructions === undefined ? {} : { instructions }),
      ...includedContext(runtimeContext, settings),
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
  } catch (error) {
    throw originalError(error);
  }
}

/* The rest stays here: the AI SDK's tracing channel gives out all that it is given, beside what is included. */
function includedContext(
  runtimeContext: unknown,
  { telemetry: { includeRuntimeContext } = {} }: ModelSettings,
): { runtimeContext?: Record<string, unknown> } {
  if (includeRuntimeContext === undefined) return {};
  const included = new Map(Object.entries(includeRuntimeContext));
  const given = typeof runtimeContext === 'object' ? runtimeContext : undefined;
  const entries = Object.entries(given ?? {}).filter(([name]) => included.get(name) === true);
  return { runtimeContext: Object.fromEntries(entries) };
}

function proposedCall(
  call: Omit<ProposedCall, 'error'> & { invalid?: boolean; error?: unknown },
  request: ProviderRequest | undefined,
): ProposedCall {
  const { toolCallId, toolName, input, invalid, error } = call;
  return {
    toolCallId,
    toolName,
    /* What the provider wrote, which is what it runs: a tool of ours that has the name by chance may read it otherwise. */
    input:
      request !== undefined && 'inputSchemaInput' in request ? request.inputSchemaInput : input,
    ...(invalid === true && { error: errorText(error) }),
    ...(request && { providerApprovalId: request.approvalId }),
  };
}

/* What the provider runs is what it wrote: nobody may be shown a repaired form of it. */
function repairOwn(repair: ModelSettings['repairToolCall']): ModelSettings['repairToolCall'] {
  if (repair === undefined) return undefined;
  return async (options) => (options.toolCall.providerExecuted === true ? null : repair(options));
}

/** The sum of two usages, field by field. */
export function addUsage(
  one: LanguageModelUsage | undefined,
  other: LanguageModelUsage,
): LanguageModelUsage {
  if (one === undefined) return other;
  const { inputTokenDetails: into, outputTokenDetails: outof } = one;
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    inputTokenDetails: {
      noCacheTokens: sum(into.noCacheTokens, other.inputTokenDetails.noCacheTokens),
      cacheReadTokens: sum(into.cacheReadTokens, other.inputTokenDetails.cacheReadTokens),
      cacheWriteTokens: sum(into.cacheWriteTokens, other.inputTokenDetails.cacheWriteTokens),
    },
    outputTokens: sum(one.outputTokens, other.outputTokens),
    outputTokenDetails: {
      textTokens: sum(outof.textTokens, other.outputTokenDetails.textTokens),
      reasoningTokens: sum(outof.reasoningTokens, other.outputTokenDetails.reasoningTokens),
    },
    totalTokens: sum(one.totalTokens, other.totalTokens),
  };
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}
