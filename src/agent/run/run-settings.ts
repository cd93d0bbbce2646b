import type { TimeoutConfiguration, ToolSet } from 'ai';
import { callGuarded } from '../../content/call-guarded.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { FinishedStep } from '../../thread/turn-steps.ts';
import { type ModelSettings, settingsOf } from '../model/model-step.ts';
import { type PrepareStep, stepSettingNames } from '../model/step-settings.ts';
import type { AgentContext } from './agent-context.ts';
import { checkedTimeout } from './run-signal.ts';

/**
 * The AI SDK's `StopCondition`, such as `isStepCount(5)` or `hasToolCall('finish')`. `steps` are those of the turn, from the log:
 * they lack the fields of the AI SDK's steps that are not recorded, such as `performance`.
 */
export type StopCondition = {
  /* A method, so that conditions written for the AI SDK's steps are accepted. */
  condition(options: { steps: FinishedStep[] }): boolean | PromiseLike<boolean>;
}['condition'];

/** What `onStepEnd` receives: a step, and its thread. */
export interface StepEndEvent extends FinishedStep {
  threadId: string;
}

/** The settings that a run can have instead of the agent's. They apply to this run only; a later run that resumes the thread uses the agent's. */
export interface RunSettings<RUNTIME_CONTEXT = Record<string, unknown>> extends Pick<
  ModelSettings,
  (typeof stepSettingNames)[number] | 'maxRetries' | 'headers'
> {
  /** Called before each request to the model: see `createAgent`. */
  prepareStep?: PrepareStep<ToolSet, RUNTIME_CONTEXT>;
  /**
   * Ends the run before the next step if one of the conditions is met, with the status `max-steps`. `run([], thread)` continues the thread;
   * workers don't. Checked when all calls of a step have ended.
   *
   * @example
   * await agent.run('Plan my trip.', thread, { stopWhen: [isStepCount(5), hasToolCall('finish')] });
   */
  stopWhen?: StopCondition | readonly StopCondition[];
  /**
   * Time limits in milliseconds, as in the AI SDK: for a whole run (a number, or `totalMs`), for each step with its tools (`stepMs`), and
   * for each call of a tool (`toolMs`, `tools: { lookUpMs }`). A run or step over its limit fails with a `TimeoutError` and is retried as
   * `retry` says. A tool over its limit gets the abort signal, and its failure is the result; if it ignores the signal for
   * `abortGraceMs`, its call becomes indeterminate. The time people take to answer does not count. `firstChunkMs` and `chunkMs` have no
   * effect.
   */
  timeout?: TimeoutConfiguration<ToolSet>;
  /**
   * Called when a step is complete and recorded: the model has replied and all calls of the step have ended. Not called if the last call
   * ends outside of a run, or if a person stops the step. Errors that it throws or rejects with are ignored.
   */
  onStepEnd?: (step: StepEndEvent) => unknown;
}

const names = [
  ...stepSettingNames,
  'maxRetries',
  'headers',
  'prepareStep',
  'stopWhen',
  'timeout',
  'onStepEnd',
] as const satisfies readonly (keyof RunSettings)[];

/** Has the names of `RunSettings`. */
export const runSettingNames: object = Object.fromEntries(names.map((name) => [name, true]));

/** A name of `RunSettings`. */
export type RunSettingName = (typeof names)[number];

/** The agent's context with the settings of one run, if it has any. */
export function withRunSettings(
  context: AgentContext,
  options: RunSettings<unknown>,
): AgentContext {
  if (names.every((name) => options[name] === undefined)) return context;
  const { timeout, prepareStep, stopWhen = context.stopWhen } = options;
  const { onStepEnd = context.onStepEnd } = options;
  const settings = settingsOf(options);
  if (!context.keepsPartialText && (prepareStep || Object.keys(settings).length > 0)) {
    throw new TypeError(
      'A custom agent has no model, so its runs take no model settings and no prepareStep.',
    );
  }
  const limits = timeout === undefined ? context.limits : checkedTimeout(timeout, context.tools);
  return { ...context, limits, stopWhen, onStepEnd, ownSteps: { settings, prepareStep } };
}

/** Calls `onStepEnd` if the events, which have just been appended, complete a step. */
export async function notifyStepEnd(
  onStepEnd: NonNullable<AgentContext['onStepEnd']>,
  state: Readonly<ThreadState>,
  events: readonly ThreadEvent[],
): Promise<void> {
  const isEnd = events.some(({ type }) => type === 'step-finished' || type === 'call-ended');
  if (!isEnd || state.head.calls.length > 0) return;
  const { turnSteps } = await import('../../thread/turn-steps.ts');
  const step = turnSteps(state).at(-1);
  if (step) void callGuarded(onStepEnd, { ...step, threadId: state.threadId });
}
