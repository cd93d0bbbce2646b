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
import { HoldpointError } from '../errors.ts';
import { type ModelListener, originalError, streamingModel } from './streaming-model.ts';

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
  'timeout',
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
  instructions?: Instructions | undefined;
  settings: ModelSettings;
  tools: ToolSet;
  messages: ModelMessage[];
  /** Of this, telemetry gets what `telemetry.includeRuntimeContext` names. */
  runtimeContext?: unknown;
  signal?: AbortSignal | undefined;
  /** Who hears the model while it speaks; without one, it does not stream. */
  listener?: ModelListener | undefined;
}

/** A call as the model proposed it and the AI SDK parsed and repaired it. */
export interface ProposedCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** Why the AI SDK refused it: no such tool, or an input that is not the schema's. */
  error?: string | undefined;
}

/** What the model answered. */
export interface ModelStep {
  /** The assistant message for the history; none when the model said nothing. */
  message?: AssistantModelMessage;
  /** The calls that are ours to run, in the model's order. */
  calls: ProposedCall[];
  finishReason: string;
  usage: LanguageModelUsage;
}

/** One model step: one call of the AI SDK, whose tools have nothing to execute. */
export async function generateStep(stepInput: ModelStepInput): Promise<ModelStep> {
  const result = await generate(stepInput);
  refuseProviderApprovals(result.content);
  const message = result.responseMessages.find(({ role }) => role === 'assistant');
  return {
    ...(message?.role === 'assistant' ? { message } : {}),
    calls: result.toolCalls.filter((call) => call.providerExecuted !== true).map(proposedCall),
    finishReason: result.finishReason,
    usage: result.usage,
  };
}

async function generate(
  stepInput: ModelStepInput,
): Promise<Awaited<ReturnType<typeof generateText>>> {
  const { model, instructions, settings, tools, messages, runtimeContext, signal, listener } =
    stepInput;
  try {
    return await generateText({
      ...settings,
      model: listener === undefined ? model : streamingModel(model, listener),
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
): ProposedCall {
  const { toolCallId, toolName, input, invalid, error } = call;
  return { toolCallId, toolName, input, ...(invalid === true && { error: messageOf(error) }) };
}

function refuseProviderApprovals(content: readonly { type: string }[]): void {
  if (content.every(({ type }) => type !== 'tool-approval-request')) return;
  throw new HoldpointError(
    'not-allowed',
    'The provider asks for the approval of a call that it runs itself, which holdpoint does not carry yet. ' +
      'Nothing was recorded; configure that tool so that it needs no approval, or leave it out.',
  );
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

/** What a thrown value says; whatever was thrown, this does not throw. */
export function messageOf(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return text || 'It failed without a message.';
  } catch {
    return 'It failed with an error that has no readable message.';
  }
}
