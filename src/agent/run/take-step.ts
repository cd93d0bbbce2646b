import type { AssistantModelMessage, LanguageModelUsage } from 'ai';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import type { PreparedRecord, StepMetadata } from '../../thread/events.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { turnSteps } from '../../thread/finished-steps.ts';
import { applyVerdict, takeTurns } from '../calls/start-calls.ts';
import { decideCalls, type DecisionInput } from '../calls/decide-calls.ts';
import { addUsage } from '../model/model-step.ts';
import { recordStep } from '../model/record-step.ts';
import { type DeltaReceiver, PartialText } from '../model/streaming-model.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunEnd } from './run-end.ts';

/** The inputs of `ModelSteps.take`. */
interface StepInput {
  decisions: DecisionInput;
  state: Readonly<ThreadState>;
  signal: AbortSignal;
}

/** The text of a step that a person stopped. */
export interface PartialStep {
  message: AssistantModelMessage;
  prepared?: PreparedRecord;
}

/** The steps of one run: asks the model, decides on its calls, and counts. Runs and records nothing. */
export class ModelSteps {
  readonly #context: AgentContext;
  readonly #receiver: DeltaReceiver | undefined;
  readonly #continues: boolean;
  #partial: PartialText | undefined;
  #prepared: PreparedRecord | undefined;
  #count = 0;
  #usage: LanguageModelUsage | undefined;
  #finishReason: string | undefined;
  #metadata: StepMetadata | undefined;

  /** With a `receiver`, the model streams. `continues`: the previous run ended with `max-steps`. */
  constructor(
    context: AgentContext,
    { receiver, continues }: { receiver: DeltaReceiver | undefined; continues: boolean },
  ) {
    this.#context = context;
    this.#receiver = receiver;
    this.#continues = continues;
  }

  /** Checks whether the run may take another step: `maxSteps` is not reached, and no condition of `stopWhen` is met. */
  mayTake(state: Readonly<ThreadState>, signal: AbortSignal): boolean | Promise<boolean> {
    const { maxSteps, stopWhen } = this.#context;
    if (this.#count >= maxSteps) return false;
    /* A run that continues after `max-steps` takes at least one step. */
    if (stopWhen === undefined || (this.#continues && this.#count === 0)) return true;
    return this.#mayContinue(stopWhen, state, signal);
  }

  async #mayContinue(
    stopWhen: NonNullable<AgentContext['stopWhen']>,
    state: Readonly<ThreadState>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const steps = turnSteps(state);
    if (steps.length === 0) return true;
    const conditions = [stopWhen].flat().map(async (condition) => condition({ steps }));
    return (await awaitUntilAborted(Promise.all(conditions), signal)).every((isMet) => !isMet);
  }

  /** The text streamed in a step that is not recorded yet. */
  get partial(): PartialStep | undefined {
    const message = this.#partial?.message;
    return message && { message, ...this.#sent };
  }

  /** The totals of the steps. */
  get summary(): Pick<RunEnd, 'usage' | 'finishReason' | 'metadata'> {
    return { usage: this.#usage, finishReason: this.#finishReason, metadata: this.#metadata };
  }

  /** Asks the model. Returns the step's event, and for each of its calls the start, the request, or the end. */
  async take({ decisions, state, signal }: StepInput): Promise<ThreadEvent[]> {
    this.#prepared = undefined;
    if (this.#receiver !== undefined && this.#context.hasModel)
      this.#partial = new PartialText(this.#receiver);
    const { tools, rules } = decisions;
    /* Read before the model answers: the calls belong to the step that it was asked for. */
    const { steps: step } = state.head;
    const making = this.#context.makeStep({
      state,
      tools: tools.forModel,
      runtimeContext: rules.context.given ?? {},
      signal,
      receiver: this.#partial ?? this.#receiver,
      own: this.#context.ownSteps,
      onPrepared: (record) => {
        this.#prepared = copyAsLogged(record);
      },
    });
    const modelStep = await awaitUntilAborted(making, signal);
    const { usage, finishReason } = modelStep;
    const metadata = copyAsLogged(modelStep.metadata);
    const { toolCallIds: usedIds } = state;
    const { generateId, now } = this.#context;
    const { message, calls, inputs } = recordStep(modelStep, { usedIds, tools, generateId });
    const verdicts =
      calls.length === 0
        ? []
        : await awaitUntilAborted(decideCalls(decisions, calls, step), signal);
    this.#count += 1;
    this.#usage = addUsage(this.#usage, usage);
    this.#finishReason = finishReason;
    this.#metadata = metadata;
    const at = now();
    const tokens = countTokens(usage);
    const { requests = [], ...saved } = { ...modelStep.custom, ...this.#sent };
    const starts = verdicts.map((verdict, index) => {
      const place = { step, index };
      if (verdict.type === 'start' && calls[index]?.inputTypes !== undefined)
        decisions.made.keep(place, modelStep.calls[index]?.made);
      return { events: applyVerdict(verdict, place, at) };
    });
    const made = inputs.length === 0 ? {} : { inputs };
    const finished = { message, finishReason, usage: tokens, metadata, ...made, ...saved };
    return [
      { type: 'step-finished', at, step, ...finished },
      ...takeTurns(starts, state.head, decisions.limit),
      ...requests.map((request) => ({ type: 'request-opened' as const, at, step, request })),
    ];
  }

  /** Notes that the step is recorded: nothing of it is partial any longer. */
  recorded(): void {
    this.#partial = undefined;
  }

  /** Notes that a person stopped the model in the middle of a step, and that its partial text was recorded. */
  interrupted(finishReason: string | undefined): void {
    this.#finishReason = finishReason;
  }

  /** The messages and settings that the model was sent instead of the default ones. */
  get #sent(): { prepared?: PreparedRecord } {
    const prepared = this.#prepared ?? {};
    return Object.keys(prepared).length === 0 ? {} : { prepared };
  }
}

function countTokens({
  inputTokens,
  outputTokens,
  totalTokens,
}: LanguageModelUsage): ThreadEventOf<'step-finished'>['usage'] {
  return {
    inputTokens: omitNaN(inputTokens),
    outputTokens: omitNaN(outputTokens),
    totalTokens: omitNaN(totalTokens),
  };
}

/* Some providers add up missing counts to NaN, which JSON can't hold. */
function omitNaN(tokens: number | undefined): number | undefined {
  return Number.isFinite(tokens) ? tokens : undefined;
}
