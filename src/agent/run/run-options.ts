import type { TimeoutConfiguration, ToolSet } from 'ai';
import type { FinishedStep } from '../../thread/finished-steps.ts';
import type { AnswerOptions } from '../input/parse-input.ts';
import type { ModelSettings } from '../model/model-step.ts';
import type { PrepareStep, stepSettingNames } from '../model/prepare-step.ts';

/** The options of one run. */
export interface RunOptions<RUNTIME_CONTEXT = Record<string, unknown>>
  extends AnswerOptions, RunOverrides<RUNTIME_CONTEXT> {
  /** Aborts the run: tools get the signal too, `run` rejects with its reason, and the thread can be run again. */
  abortSignal?: AbortSignal;
  /**
   * Passed to the rules of `toolApproval`; and to the AI SDK's telemetry, as far as `telemetry.includeRuntimeContext` names it. It counts
   * only if `principal` is the only person for whom the run works: a person who continues another's turn adds no context to it.
   */
  runtimeContext?: RUNTIME_CONTEXT;
  /** The effect of a message on open requests: it is refused (default), or it cancels them. */
  whilePending?: 'refuse' | 'cancel';
  /**
   * Your id for the message of this input, 1 to 256 characters. The same id again records nothing: the turn resumes, and once there is a
   * reply, the recorded reply is returned, even if the conversation has continued since. For callers that retry: queues, workflow engines,
   * browsers. Without it, the id in the last message counts, at `providerOptions.holdpoint.messageId`. Another text under the id of a
   * message, or another `principal`, is `invalid-input`.
   */
  messageId?: string;
  /**
   * True to resume a turn that a person stopped before the model's first word, which a run otherwise leaves alone: for a person who wants
   * the reply after all. The message keeps its sender. It also releases the approved calls that a stop holds, those that `principal` may
   * reject; rejects with `not-allowed` if there are only others. Not together with `onlyWhenDue`.
   */
  resumeStopped?: boolean;
  /**
   * The revision of the message that the input's message replaces, with those after it, in one append: an edit of messages without a reply.
   * It is the revision at which the thread recorded that message, the place of its `message-added` in `thread.events`, counted from 1.
   * Rejects with `not-allowed` if the message has a reply, or if any of the messages was sent by anybody but `principal`.
   */
  replaces?: number;
  /**
   * True if the run does nothing before `thread.nextDeadline`: for schedulers that may wake too early or too often. Only with the input
   * `[]`.
   */
  onlyWhenDue?: boolean;
}

/**
 * The AI SDK's `StopCondition`, such as `isStepCount(5)` or `hasToolCall('finish')`. `steps` are those of the turn, from the log:
 * they lack the fields of the AI SDK's steps that are not recorded, such as `performance`.
 */
export type StopCondition = {
  /* A method, so that conditions written for the AI SDK's steps are accepted. */
  condition(options: { steps: FinishedStep[] }): boolean | PromiseLike<boolean>;
}['condition'];

/** The argument of `onStepEnd`: a step, and its thread. */
export interface StepEndEvent extends FinishedStep {
  /** The thread of the step. */
  threadId: string;
}

/**
 * The settings that a run can have instead of the agent's. They apply to this run only; a later run that resumes the thread uses the
 * agent's.
 */
export interface RunOverrides<RUNTIME_CONTEXT = Record<string, unknown>> extends Pick<
  ModelSettings,
  (typeof stepSettingNames)[number] | 'maxRetries' | 'headers'
> {
  /** Called before each request to the model: see `createAgent`. */
  prepareStep?: PrepareStep<ToolSet, RUNTIME_CONTEXT>;
  /**
   * The conditions that end the run before the next step, if one is met, with the status `max-steps`. `run([], thread)` continues the
   * thread; workers don't. Checked when all calls of a step have ended.
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
