import type { LanguageModelUsage } from 'ai';
import type { CallPlace } from '../../content/tool-call.ts';
import type { StepMetadata, ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { AgentContext } from './agent-context.ts';
import { openedEvent } from '../calls/check-approved.ts';
import { type CallVerdict, decideCalls, type DecisionInput } from '../calls/decide-calls.ts';
import { generateStep } from '../model/model-step.ts';
import { recordStep } from '../model/record-step.ts';
import type { ModelListener } from '../model/streaming-model.ts';
import { beginningOf, modelTools } from '../calls/tool-definitions.ts';
import { untilAborted } from '../../content/until-aborted.ts';

/** What a step is taken with. */
export interface StepInput {
  context: AgentContext;
  decisions: DecisionInput;
  state: Readonly<ThreadState>;
  signal: AbortSignal | undefined;
  listener: ModelListener | undefined;
}

/** A step that was taken and is not recorded yet. */
export interface TakenStep {
  /** What the model said, and for each of its calls the start, the request, or the end. */
  events: ThreadEvent[];
  usage: LanguageModelUsage;
  finishReason: string;
  metadata: StepMetadata;
}

/** Asks the model, and decides on every call it proposes. Nothing is run and nothing is recorded here. */
export async function takeStep({
  context,
  decisions,
  state,
  signal,
  listener,
}: StepInput): Promise<TakenStep> {
  const { options, settings, generateId, now } = context;
  const {
    tools,
    rules: { runtimeContext },
  } = decisions;
  const { model, instructions } = options;
  const messages = state.messages.slice();
  const { steps: step } = state.head;
  const place = { threadId: state.threadId, step };
  const asked = { model, place, instructions, settings, tools: modelTools(tools), messages };
  const modelStep = await untilAborted(
    generateStep({ ...asked, runtimeContext, signal, listener }),
    signal,
  );
  const { usage, finishReason } = modelStep;
  const metadata = jsonCopy(modelStep.metadata);
  const { message, calls } = recordStep(modelStep, {
    usedIds: state.toolCallIds,
    tools,
    generateId,
  });
  const verdicts = await untilAborted(decideCalls(decisions, calls, step), signal);
  const at = now();
  const finished: ThreadEventOf<'step-finished'> = {
    type: 'step-finished',
    at,
    step,
    message,
    finishReason,
    usage: tokensOf(usage),
    metadata,
  };
  const decided = verdicts.map((verdict, index) => verdictEvent(verdict, { step, index }, at));
  return { events: [finished, ...decided], usage, finishReason, metadata };
}

function verdictEvent(verdict: CallVerdict, place: CallPlace, at: number): ThreadEvent {
  switch (verdict.type) {
    case 'start':
      return beginningOf(verdict.definition, place, at);
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

/* A provider that adds up what it was not told gives NaN, which JSON has not. */
function counted(tokens: number | undefined): number | undefined {
  return Number.isFinite(tokens) ? tokens : undefined;
}
