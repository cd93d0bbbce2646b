import type { Instructions, LanguageModel, ModelMessage, PrepareStepResult, ToolSet } from 'ai';
import type { PreparedRecord } from '../../thread/events.ts';
import { readModelName } from '../../thread/tracing.ts';
import type { FinishedStep } from '../../thread/finished-steps.ts';

/** The settings of one step that `prepareStep` may return; all others are those of the agent and the run. */
export type PreparedStep<TOOLS extends ToolSet = ToolSet> = Omit<
  NonNullable<PrepareStepResult<TOOLS>>,
  'system' | 'toolsContext' | 'runtimeContext' | 'experimental_sandbox'
>;

/**
 * The AI SDK's `prepareStep`: called before each request to the model. `messages` are those that the step would send: those that the
 * previous step sent, plus what was added to the thread since. Returned messages carry forward, also to later turns and other processes.
 * `threadMessages` is the whole thread. `steps` are those of the turn.
 */
export type PrepareStep<
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> = {
  /* A method: an agent calls it with the tools and the context that its types promise. */
  prepareStep(
    options: PrepareStepOptions<TOOLS, RUNTIME_CONTEXT>,
  ): PreparedStep<TOOLS> | undefined | PromiseLike<PreparedStep<TOOLS> | undefined>;
}['prepareStep'];

interface PrepareStepOptions<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  threadId: string;
  steps: FinishedStep[];
  stepNumber: number;
  model: LanguageModel;
  instructions: Instructions | undefined;
  initialInstructions: Instructions | undefined;
  messages: ModelMessage[];
  threadMessages: ModelMessage[];
  toolsContext: { readonly [NAME in keyof TOOLS]?: unknown };
  runtimeContext: RUNTIME_CONTEXT;
}

/** The model settings that a step can have for itself. */
export const stepSettingNames = [
  'maxOutputTokens',
  'temperature',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'providerOptions',
  'toolChoice',
  'activeTools',
  'toolOrder',
] as const;

/** The settings of a step that are recorded: those that differ from the agent's. */
export function recordSettings(
  { model, instructions, ...prepared }: PreparedStep,
  ofRun: Pick<PreparedStep, 'activeTools' | 'toolChoice'>,
): PreparedRecord {
  const { activeTools = ofRun.activeTools, toolChoice = ofRun.toolChoice } = prepared;
  return { instructions, model: model && readModelName(model).modelId, activeTools, toolChoice };
}
