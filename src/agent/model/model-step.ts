import {
  asSchema,
  type AssistantModelMessage,
  generateText,
  type Instructions,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type Output,
  type ToolSet,
  wrapLanguageModel,
} from 'ai';
import { readErrorText } from '../../content/app-errors.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { endsHere, listAssistantParts, type ProviderRequest } from '../../thread/proposed-calls.ts';
import type { PreparedRecord, StepMetadata } from '../../thread/events.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { isTraced, type ModelAnswer, traceModel } from '../../thread/tracing.ts';
import {
  prepare,
  type PreparedStep,
  type PrepareStep,
  recordSettings,
  stepSettingNames,
} from './prepare-step.ts';
import { carriesApproval, mapAnswerableRequests } from './provider-requests.ts';
import { makeSendable } from './sendable-messages.ts';
import { mendText } from '../../json/well-formed.ts';
import {
  type DeltaReceiver,
  type ProviderResponse,
  readModelName,
  resolveModel,
  unwrapProviderError,
  wrapStreaming,
} from './streaming-model.ts';
import { copyPlain, isObject } from '../../json/json-value.ts';

const settingNames = [
  ...stepSettingNames,
  'maxRetries',
  'headers',
  'repairToolCall',
  'telemetry',
  'experimental_download',
  'allowSystemInMessages',
] as const;

/** The settings of `generateText` that an agent passes on unchanged. */
export type ModelSettings = Pick<Parameters<typeof generateText>[0], (typeof settingNames)[number]>;

/** Picks only these settings: the AI SDK must never see those that decide, `toolApproval` above all. See ADR 3. */
export function pickModelSettings(options: ModelSettings): ModelSettings {
  const given = settingNames.filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

/** The settings that the steps of one run have instead of the agent's. */
export interface StepSettings {
  settings?: ModelSettings;
  prepareStep?: PrepareStep<ToolSet, unknown> | undefined;
}

/** A call as the model proposed it, parsed and repaired by the AI SDK. */
export interface ModelCall {
  toolCallId: string;
  toolName: string;
  /** The value that the tool's schema made. */
  made: unknown;
  /** The input that the schema was given. */
  given: unknown;
  /** The reason why the AI SDK rejected it: no such tool, or invalid input. */
  error?: string | undefined;
  /** The id of the provider's request to run the call itself; absent for a call that runs here. */
  providerApprovalId?: string | undefined;
}

/** The model's response. */
export interface ModelStep {
  /** The assistant message for the history; absent if the response was empty. */
  message?: AssistantModelMessage;
  /** The calls that run here, and those that the provider asks about, in the model's order. */
  calls: ModelCall[];
  finishReason: string;
  /** The provider's own finish reason, if it has one. */
  rawFinishReason?: string | undefined;
  usage: LanguageModelUsage;
  /** Provider metadata. */
  metadata: StepMetadata;
  /** The additions of a custom agent's step. */
  custom?: CustomPart;
}

/** The part that only a custom agent's step has: its requests, its progress, and whether the next step follows at once. */
interface CustomPart {
  requests: readonly UserInputRequest[];
  progress?: unknown;
  continues?: true;
}

/** The inputs of a step, of a model or a function. */
export interface StepRequest {
  state: Readonly<ThreadState>;
  /** The tools, as the model may see them. */
  tools: ToolSet;
  runtimeContext: unknown;
  signal: AbortSignal;
  /** Receives the step's deltas in a streamed run. */
  receiver: DeltaReceiver | undefined;
  /** This run's settings instead of the agent's own. */
  own?: StepSettings | undefined;
  /** Receives the record of the differences from the thread's messages and the agent's own settings, before the request is sent. */
  onPrepared: (record: PreparedRecord) => void;
}

/** Makes the steps of an agent. */
export type StepSource = (request: StepRequest) => Promise<ModelStep>;

/** The settings that an agent's model steps have in common. */
interface FixedSettings {
  model: LanguageModel;
  instructions: Instructions | undefined;
  settings: ModelSettings;
  output: Output.Output | undefined;
  prepareStep: PrepareStep<ToolSet, unknown> | undefined;
  toolsContext: Readonly<Record<string, unknown>>;
}

/** The steps that a language model makes: each is one call of the AI SDK, with tools that have no `execute`. */
export function makeModelSteps(fixed: FixedSettings): StepSource {
  const { instructions } = fixed;
  const output = fixed.output && skipOutputParsing(fixed.output);
  return async ({ state, own, tools, runtimeContext, signal, receiver, onPrepared }) => {
    const { prepareStep = fixed.prepareStep, settings: ofRun } = own ?? {};
    const { prepared, sent } =
      prepareStep === undefined
        ? {}
        : await prepare({ ...fixed, runtimeContext, prepareStep }, state);
    if (prepared || ofRun) onPrepared({ ...sent, ...recordSettings(prepared ?? {}, ofRun ?? {}) });
    const settings = ofRun === undefined ? fixed.settings : { ...fixed.settings, ...ofRun };
    const messages = makeSendable(state.messages.slice());
    const changed = prepared && makeSendableStep(prepared);
    const model = prepared?.model ?? fixed.model;
    const asked = receiver === undefined ? model : wrapStreaming(model, receiver);
    const given = new GivenInputs();
    let result: GenerateResult;
    try {
      result = await generateText({
        ...settings,
        ...(changed && { prepareStep: () => ({ ...changed, model: undefined }) }),
        ...(output && { output }),
        ...(carriesApproval(changed?.messages ?? messages) && { maxRetries: 0 }),
        repairToolCall: repairOwn(settings.repairToolCall),
        model: isTraced() ? wrapTraced(asked, state) : asked,
        messages,
        tools: given.noteIn(tools),
        instructions: mendText(instructions),
        ...pickIncludedContext(runtimeContext, settings),
        abortSignal: signal,
      });
    } catch (error) {
      throw unwrapProviderError(error);
    }
    const message = result.responseMessages.find(({ role }) => role === 'assistant');
    const requests = mapAnswerableRequests(listAssistantParts(message), messages);
    return {
      ...(message?.role === 'assistant' ? { message: withGiven(message, given) } : {}),
      calls: result.toolCalls
        .filter((call) => endsHere(call, requests))
        .map((call) => toModelCall(call, given, requests.get(call.toolCallId))),
      finishReason: result.finishReason,
      rawFinishReason: result.rawFinishReason,
      usage: result.usage,
      metadata: readStepMetadata(result),
    };
  };
}

function makeSendableStep({ messages, instructions, ...prepared }: PreparedStep): PreparedStep {
  return {
    ...prepared,
    ...(messages && { messages: makeSendable(messages) }),
    ...(instructions !== undefined && { instructions: mendText(instructions) }),
  };
}

/* The AI SDK makes such an id when the provider has none. */
const madeId = /^aitxt-/;

function readStepMetadata({ finalStep, sources }: GenerateResult): StepMetadata {
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

/* The response is parsed when it is read: a step must not fail because its text does not match a schema. */
function skipOutputParsing(output: Output.Output): Output.Output {
  return { ...output, parseCompleteOutput: async () => null };
}

/* Only the included part: the AI SDK's tracing channel publishes everything that it gets. */
function pickIncludedContext(
  runtimeContext: unknown,
  { telemetry: { includeRuntimeContext } = {} }: ModelSettings,
): { runtimeContext?: Record<string, unknown> } {
  if (includeRuntimeContext === undefined) return {};
  const included = new Map(Object.entries(includeRuntimeContext));
  const given = typeof runtimeContext === 'object' ? runtimeContext : undefined;
  const entries = Object.entries(given ?? {}).filter(([name]) => included.get(name) === true);
  return { runtimeContext: Object.fromEntries(entries) };
}

function toModelCall(
  call: {
    toolCallId: string;
    toolName: string;
    input: unknown;
    invalid?: boolean;
    error?: unknown;
  },
  inputs: GivenInputs,
  request: ProviderRequest | undefined,
): ModelCall {
  const { toolCallId, toolName, input, invalid, error } = call;
  const { given, made } = inputs.of(input);
  return {
    toolCallId,
    toolName,
    given,
    /* The provider's own input, because that is what it runs: a tool of ours with the same name may parse it differently. */
    made: request === undefined ? made : given,
    ...(invalid === true && { error: readErrorText(error) }),
    ...(request && { providerApprovalId: request.approvalId }),
  };
}

/* The provider runs the input that it wrote, not the one that our tool with the same name would make from it. */
function withGiven(message: AssistantModelMessage, inputs: GivenInputs): AssistantModelMessage {
  const content = listAssistantParts(message).map((part) =>
    part.type === 'tool-call' ? { ...part, input: inputs.of(part.input).given } : part,
  );
  return { ...message, content };
}

/* The provider runs what it wrote, so a person must not be shown a repaired form. */
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

/** The model with its requests traced. */
function wrapTraced(
  model: LanguageModel,
  { threadId, head: { steps: step } }: Readonly<ThreadState>,
): LanguageModel {
  return wrapLanguageModel({
    model: resolveModel(model),
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate, model: asked }) =>
        traceModel({ threadId, step, ...readModelName(asked) }, doGenerate, readModelAnswer),
    },
  });
}

function readModelAnswer({ response, finishReason, usage }: ProviderResponse): ModelAnswer {
  return {
    id: response?.id,
    modelId: response?.modelId,
    finishReason: finishReason.unified,
    usage: { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total },
  };
}

/** A value that a schema made, and the input that it was given. */
class MadeInput {
  readonly made: unknown;
  readonly given: unknown;

  constructor(made: unknown, given: unknown) {
    this.made = made;
    this.given = given;
  }

  /* Telemetry, which gets what the AI SDK gets, writes the value. */
  toJSON(): unknown {
    return this.made;
  }
}

/**
 * The inputs that the schemas of a step's tools were given, by the values that they made: the AI SDK passes on only the latter. An object
 * that one schema has just made is of one call. Any other value, such as a text, may be that of two calls: it is passed on with its input.
 */
class GivenInputs {
  readonly #given = new Map<object, unknown>();

  /** Wraps the tools so that their schemas' inputs are recorded. A schema may change its input, so it gets a copy. */
  noteIn(tools: ToolSet): ToolSet {
    const noting = new Map(Object.entries(tools));
    for (const [name, tool] of noting) {
      if (tool.type === 'provider' && tool.isProviderExecuted) continue;
      const schema = asSchema(tool.inputSchema);
      const { validate } = schema;
      if (validate === undefined) continue;
      const json: unknown = schema.jsonSchema;
      const inputSchema = jsonSchema(json, {
        validate: async (given) => {
          const parsed = await validate(copyPlain(given));
          return parsed.success
            ? { success: true, value: this.#note(parsed.value, given) }
            : parsed;
        },
      });
      noting.set(name, Object.assign({}, tool, { inputSchema }));
    }
    return Object.fromEntries(noting);
  }

  #note(made: unknown, given: unknown): unknown {
    if (!isObject(made) || this.#given.has(made)) return new MadeInput(made, given);
    this.#given.set(made, given);
    return made;
  }

  /** Finds what a schema made, and from which input, in the input of a call of the AI SDK; twice that input, if no schema made it. */
  of(input: unknown): Pick<MadeInput, 'made' | 'given'> {
    if (input instanceof MadeInput) return input;
    const isNoted = isObject(input) && this.#given.has(input);
    return { made: input, given: isNoted ? this.#given.get(input) : input };
  }
}
