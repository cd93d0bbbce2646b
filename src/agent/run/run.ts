import { readErrorText, callGuarded } from '../../content/app-errors.ts';
import { unlessAborted } from '../../content/waiting.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  hasDueCalls,
  isModelDue,
  keepsDecisions,
  needsRun,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import { prepareStarts } from '../calls/start-calls.ts';
import { turnSteps } from '../../thread/finished-steps.ts';
import { type DecisionInput, makeDecisionInput } from '../calls/decide-calls.ts';
import type { PreliminaryResult } from '../calls/execute-call.ts';
import { ignoreGrantEnded } from '../calls/find-grant.ts';
import { MadeInputs } from '../calls/made-input.ts';
import { refuseMissingTools } from '../calls/tool-definitions.ts';
import type { AdmittedInput } from '../input/admitted-input.ts';
import { pickModelSettings } from '../model/model-step.ts';
import type { DeltaReceiver } from '../model/streaming-model.ts';
import type { AgentContext } from './agent-context.ts';
import { Executions } from './executions.ts';
import { Lease, LeaseLost } from './lease.ts';
import { openAgain, type Opening, openRun } from './open-run.ts';
import { describeEndStatus, type RunEnd } from './run-end.ts';
import type { RunOverrides } from './run-options.ts';
import { AnswerSending, makeSentEvents } from './send-answers.ts';
import { ModelSteps } from './take-step.ts';
import { abortAfter, type RunningLimit, checkTimeout } from './time-limits.ts';

/** The settings of a run. */
export interface RunArguments extends Omit<Opening, 'lease' | 'signal' | 'made'> {
  /** Receives the model's deltas: the only difference of a streamed run. */
  receiver?: DeltaReceiver | undefined;
  /** Receives every event that the run appended. */
  onEvents?: ((events: readonly ThreadEvent[]) => void) | undefined;
  /** Receives the preliminary results of tools. */
  onPreliminary?: ((result: PreliminaryResult) => void) | undefined;
}

/**
 * One run of a thread: from its input to the point where it waits for a person, or is complete. It holds the thread by a lease, and
 * appends before it acts.
 */
export class Run {
  readonly #context: AgentContext;
  readonly #setting: RunArguments;
  readonly #log: ThreadLog;
  readonly #lease: Lease;
  readonly #opening: Opening;
  readonly #executions: Executions;
  readonly #made = new MadeInputs();
  readonly #own = new AbortController();
  /** Ends the run early: the app's own signal aborted, a person stopped the run, or a time limit was reached. */
  readonly #signal: AbortSignal;
  #stopReason: unknown;
  #stepLimit: RunningLimit | undefined;
  /** True if the previous run ended with `max-steps`. */
  readonly #continues: boolean;
  /** The head for which the next act was last determined. Each append makes another one. */
  #seen: ThreadHead | undefined;
  /** Set once the model is asked. */
  #steps: ModelSteps | undefined;
  /** Set once there is an answer to send. */
  #sending: AnswerSending | undefined;

  constructor(context: AgentContext, setting: RunArguments) {
    const { log, tools, options, cause, onPreliminary } = setting;
    this.#context = context;
    this.#setting = setting;
    this.#log = log;
    this.#continues = log.state.head.isOutOfSteps;
    const { signal } = this.#own;
    const { abortSignal } = options;
    this.#signal = abortSignal === undefined ? signal : AbortSignal.any([abortSignal, signal]);
    this.#lease = new Lease(context, log, cause);
    const made = this.#made;
    const working = { log, tools, made, lease: this.#lease, signal: this.#signal };
    this.#opening = { ...working, options, cause };
    this.#executions = new Executions(context, {
      ...working,
      isStopped: () => this.#isStop(this.#signal.reason),
      run: setting,
      onPreliminary,
    });
  }

  /** Performs the run to its end. */
  async perform(input: AdmittedInput): Promise<RunEnd> {
    this.#signal.throwIfAborted();
    const events = await openRun(this.#context, this.#opening, input, this.#setting.onEvents);
    if (events === undefined) return this.#end();
    const beginning = this.#begin(events);
    if (beginning !== undefined) await beginning;
    try {
      await this.#work();
      return this.#end();
    } catch (error) {
      return this.#endEarly(error);
    }
  }

  /** Works until the run no longer holds the thread, and renews the lease meanwhile. */
  async #work(): Promise<void> {
    const { run: limitMs } = this.#context.limits;
    const limit = limitMs === undefined ? undefined : abortAfter(limitMs, 'The run', this.#own);
    const stopRenewing = this.#lease.isHeld
      ? this.#lease.keepRenewed(() => this.#onNews())
      : undefined;
    try {
      if (!this.#lease.isHeld) this.#signal.throwIfAborted();
      while (this.#lease.isHeld) {
        if (this.#lease.isStopping) this.#stop();
        try {
          const next = this.#advance();
          if (next !== undefined) await next;
        } catch (error) {
          /* A run that stalled past its lease takes the thread again if no other run has begun. */
          if (!(error instanceof LeaseLost)) throw error;
          await this.#takeAgain();
        }
      }
    } finally {
      stopRenewing?.();
      limit?.end();
      this.#stepLimit?.end();
      this.#sending?.stop();
      this.#executions.leave();
    }
  }

  /** Called when others may have appended. */
  #onNews(): void {
    if (this.#lease.isStopping) this.#stop();
    this.#executions.wake();
  }

  /** Aborts because a person stopped the run. */
  #stop(): void {
    if (this.#signal.aborted) return;
    this.#stopReason = new DOMException('The run was stopped.', 'AbortError');
    this.#own.abort(this.#stopReason);
  }

  /** Checks whether this error is a person's stop. */
  #isStop(error: unknown): boolean {
    return this.#stopReason !== undefined && error === this.#stopReason;
  }

  /** Waits for the calls that still run here but are recorded as lost, and takes the thread again. */
  async #takeAgain(): Promise<void> {
    const signal = this.#signal;
    while (!this.#lease.isTakenOver) {
      const finished = this.#executions.take();
      if (finished.length > 0) {
        await this.#executions.record(finished).catch(ignoreLeaseLost);
        continue;
      }
      if (!this.#executions.pending)
        return this.#begin(await openAgain(this.#context, this.#opening));
      if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
      await this.#executions.wait();
    }
  }

  /** Performs the next act: records results, starts approved calls, waits for running ones, asks the model, or ends. */
  #advance(): Promise<void> | undefined {
    const signal = this.#signal;
    const { state } = this.#log;
    this.#seen = state.head;
    const finished = this.#executions.take();
    if (finished.length > 0) return this.#executions.record(finished).then(this.#begin);
    const sent = this.#sending?.take() ?? [];
    if (sent.length > 0) {
      const make = ({ head }: Proposal) => makeSentEvents(head, sent, this.#context.now());
      return this.#commit(make, { evenWhenLost: true });
    }
    if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
    const mayBeUnsent = this.#sending !== undefined || state.head.unsentAnswers.length > 0;
    if (!signal.aborted && mayBeUnsent) this.#sendAnswers();
    const mayStart = !signal.aborted && hasDueCalls(state.head, this.#context.now());
    return mayStart ? this.#startDue() : this.#waitOrAsk();
  }

  /** Waits for running calls, or else asks the model, or ends. */
  #waitOrAsk(): Promise<void> | undefined {
    if (this.#executions.pending || this.#sending?.pending === true) return this.#executions.wait();
    const { state } = this.#log;
    refuseMissingTools(state, this.#setting.tools, this.#context.now());
    return this.#askModel();
  }

  /** Starts the calls that pass a last check: approved ones, and those whose turn it is. Resumes the delegated calls that are due. */
  async #startDue(): Promise<void> {
    const { state } = this.#log;
    const checking = prepareStarts(this.#decisions(), state);
    const starts = await unlessAborted(checking, this.#signal);
    if (starts?.isEmpty === true) return this.#waitOrAsk();
    if (starts !== undefined)
      await this.#commit(({ head }) => starts.events(head)).catch(ignoreGrantEnded);
  }

  /** Asks the model if it is due and the run may take another step; else ends the run. */
  async #askModel(): Promise<void> {
    const { state } = this.#log;
    const mayAsk = isModelDue(state.head) && (await this.#modelSteps.mayTake(state, this.#signal));
    if (!mayAsk) return this.#commit(({ head }) => this.#endUnlessNews(head));
    /* Nothing starts when the lease has expired: this renews it, or finds that another run has the thread. */
    if (this.#lease.hasExpired) return this.#commit(() => []);
    const { head: seen } = state;
    const before = await this.#context.beforeStep?.(state);
    if (before !== undefined && before.length > 0)
      return this.#commit(({ head }) => (keepsDecisions(head, seen) ? before : []));
    const { step: limitMs } = this.#context.limits;
    this.#stepLimit?.end();
    if (limitMs !== undefined) this.#stepLimit = abortAfter(limitMs, 'The step', this.#own);
    const decisions = this.#decisions(state.messages.length);
    const events = await this.#modelSteps.take({ decisions, state, signal: this.#signal });
    /* A step that used an approval that has been taken back is not recorded, but repeated. */
    await this.#commit(({ head }) => (keepsDecisions(head, seen) ? events : []));
    if (!this.#lease.isStopping) this.#modelSteps.recorded();
  }

  /** Makes the run's end; nothing if others have meanwhile appended work, which they leave to this run. */
  #endUnlessNews(head: ThreadHead): ThreadEvent[] {
    const at = this.#context.now();
    const isNews = this.#log.state.head !== this.#seen && needsRun(head, at);
    return isNews ? [] : [{ type: 'run-ended', at }];
  }

  /** Appends under the lease, then starts the calls that were recorded as started, and no others. */
  #commit(
    make: (proposal: Proposal) => readonly ThreadEvent[],
    options: { evenWhenLost?: boolean } = {},
  ): Promise<void> {
    return this.#lease.commit(make, options).then(this.#begin);
  }

  /** After an append: starts the calls that it recorded as started. */
  readonly #begin = (events: readonly ThreadEvent[]): Promise<void> | undefined => {
    this.#setting.onEvents?.(events);
    const { onStepEnd } = this.#context;
    if (onStepEnd !== undefined) notifyStepEnd(onStepEnd, this.#log.state, events);
    return this.#executions.start(events);
  };

  get #modelSteps(): ModelSteps {
    const { receiver } = this.#setting;
    return (this.#steps ??= new ModelSteps(this.#context, {
      receiver,
      continues: this.#continues,
    }));
  }

  /** Starts sending new answers, and stops sending those that are no longer needed. */
  #sendAnswers(): void {
    const { log, tools } = this.#setting;
    const wake = (): void => this.#executions.wake();
    this.#sending ??= new AnswerSending({ log, tools, signal: this.#signal, wake });
    this.#sending.update(log.state);
  }

  /** Makes the input of decisions; by default for the calls of the open step, whose assistant message is the last. */
  #decisions(messageCount = this.#log.state.messages.length - 1): DecisionInput {
    const run = { ...this.#setting, made: this.#made };
    return makeDecisionInput(this.#context, this.#log.state, run, messageCount);
  }

  /** Releases the thread before the work is done. A stop is a normal end; any other failure is thrown. */
  async #endEarly(failure: unknown): Promise<RunEnd> {
    const error = readErrorText(failure).slice(0, 500).toWellFormed();
    const { abortSignal } = this.#setting.options;
    const isAborted = abortSignal?.aborted === true && failure === abortSignal.reason;
    const events = this.#lease.isHeld
      ? await this.#lease.release(error, isAborted, this.#steps?.partial)
      : [];
    if (!this.#isStop(failure)) throw failure;
    this.#setting.onEvents?.(events);
    const partial = events.find((event) => event.type === 'step-finished');
    this.#steps?.interrupted(partial?.finishReason);
    return this.#end();
  }

  #end(): RunEnd {
    const status = describeEndStatus(this.#log.state, this.#context.now());
    const summary = this.#steps?.summary ?? noSteps;
    return { status: this.#lease.isTakenOver ? 'running' : status, ...summary };
  }
}

const noSteps = { usage: undefined, finishReason: undefined, metadata: undefined };

function ignoreLeaseLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error;
}

/** The agent's context with the settings of one run. */
export function withRunSettings(
  context: AgentContext,
  options: RunOverrides<unknown>,
): AgentContext {
  const { timeout, prepareStep, stopWhen = context.stopWhen } = options;
  const { onStepEnd = context.onStepEnd } = options;
  const settings = pickModelSettings(options);
  if (!context.hasModel && (prepareStep || Object.keys(settings).length > 0)) {
    throw new TypeError(
      'A custom agent has no model, so its runs take no model settings and no prepareStep.',
    );
  }
  const limits = timeout === undefined ? context.limits : checkTimeout(timeout, context.tools);
  return { ...context, limits, stopWhen, onStepEnd, ownSteps: { settings, prepareStep } };
}

/** Calls `onStepEnd` if the events, which have just been appended, complete a step. */
function notifyStepEnd(
  onStepEnd: AgentContext['onStepEnd'],
  state: Readonly<ThreadState>,
  events: readonly ThreadEvent[],
): void {
  const isEnd = events.some(({ type }) => type === 'step-finished' || type === 'call-ended');
  if (!isEnd || state.head.calls.length > 0) return;
  const step = turnSteps(state).at(-1);
  if (step) void callGuarded(onStepEnd, { ...step, threadId: state.threadId });
}
