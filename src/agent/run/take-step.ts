import type { AssistantModelMessage, LanguageModelUsage } from 'ai';
import type { CallPlace } from '../../content/tool-call.ts';
import { untilAborted } from '../../content/until-aborted.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { StepMetadata, ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { openedEvent } from '../calls/check-approved.ts';
import { type CallVerdict, decideCalls, type DecisionInput } from '../calls/decide-calls.ts';
import { startEvent, modelTools } from '../calls/tool-definitions.ts';
import { addUsage, type ModelStep } from '../model/model-step.ts';
import { PartialText } from '../model/partial-text.ts';
import { recordStep } from '../model/record-step.ts';
import type { DeltaReceiver } from '../model/streaming-model.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunEnd } from './run-end.ts';

/** The inputs of `ModelSteps.take`. */
interface StepInput {
  decisions: DecisionInput;
  state: Readonly<ThreadState>;
  signal: AbortSignal;
}

/** The steps of one run: asks the model, decides on its calls, and counts. Runs and records nothing. */
export class ModelSteps {
  readonly #context: AgentContext;
  readonly #receiver: DeltaReceiver | undefined;
  #partial: PartialText | undefined;
  #count = 0;
  #usage: LanguageModelUsage | undefined;
  #finishReason: string | undefined;
  #metadata: StepMetadata | undefined;

  /** With a `receiver`, the model streams. */
  constructor(context: AgentContext, receiver: DeltaReceiver | undefined) {
    this.#context = context;
    this.#receiver = receiver;
  }

  /** Whether the run may take another step. */
  get mayTake(): boolean {
    return this.#count < this.#context.maxSteps;
  }

  /** The text streamed in a step that is not recorded yet. */
  get partial(): AssistantModelMessage | undefined {
    return this.#partial?.message;
  }

  /** The totals of the steps. */
  get summary(): Pick<RunEnd, 'usage' | 'finishReason' | 'metadata'> {
    return { usage: this.#usage, finishReason: this.#finishReason, metadata: this.#metadata };
  }

  /** Asks the model. Returns the step's event, and for each of its calls the start, the request, or the end. */
  async take({ decisions, state, signal }: StepInput): Promise<ThreadEvent[]> {
    if (this.#receiver !== undefined && this.#context.keepsPartialText)
      this.#partial = new PartialText(this.#receiver);
    const { tools } = decisions;
    /* Read before the model answers: the calls belong to the step that it was asked for. */
    const { steps: step } = state.head;
    const modelStep = await untilAborted(this.#make({ decisions, state, signal }), signal);
    const { usage, finishReason } = modelStep;
    const metadata = jsonCopy(modelStep.metadata);
    const { toolCallIds: usedIds } = state;
    const { generateId, now } = this.#context;
    const isKnownTool = (toolName: string): boolean => tools.has(toolName);
    const { message, calls } = recordStep(modelStep, { usedIds, isKnownTool, generateId });
    const verdicts = await untilAborted(decideCalls(decisions, calls, step), signal);
    this.#count += 1;
    this.#usage = addUsage(this.#usage, usage);
    this.#finishReason = finishReason;
    this.#metadata = metadata;
    const at = now();
    const tokens = tokensOf(usage);
    const { requests = [], ...saved } = modelStep.custom ?? {};
    return [
      { type: 'step-finished', at, step, message, finishReason, usage: tokens, metadata, ...saved },
      ...verdicts.map((verdict, index) => verdictEvent(verdict, { step, index }, at)),
      ...requests.map((request) => ({ type: 'request-opened' as const, at, step, request })),
    ];
  }

  /** The step is recorded: nothing of it is partial any more. */
  recorded(): void {
    this.#partial = undefined;
  }

  /** A person stopped the model in the middle of a step, and its partial text was recorded. */
  interrupted(finishReason: string | undefined): void {
    this.#finishReason = finishReason;
  }

  async #make({ decisions, state, signal }: StepInput): Promise<ModelStep> {
    const { tools, rules } = decisions;
    return this.#context.makeStep({
      state,
      tools: modelTools(tools),
      runtimeContext: rules.runtimeContext,
      signal,
      receiver: this.#partial ?? this.#receiver,
    });
  }
}

function verdictEvent(verdict: CallVerdict, place: CallPlace, at: number): ThreadEvent {
  switch (verdict.type) {
    case 'start':
      return startEvent(verdict.definition, place, at);
    case 'ask':
      return openedEvent(place, verdict.request);
    case 'end':
      return { type: 'call-ended', at, ...place, outcome: verdict.outcome };
  }
}

function tokensOf({
  inputTokens,
  outputTokens,
  totalTokens,
}: LanguageModelUsage): ThreadEventOf<'step-finished'>['usage'] {
  return {
    inputTokens: counted(inputTokens),
    outputTokens: counted(outputTokens),
    totalTokens: counted(totalTokens),
  };
}

/* Some providers add up missing counts to NaN, which JSON can't hold. */
function counted(tokens: number | undefined): number | undefined {
  return Number.isFinite(tokens) ? tokens : undefined;
}
