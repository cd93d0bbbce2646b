import { errorText } from '../../content/error-text.ts';
import { unlessAborted } from '../../content/until-aborted.ts';
import type { RunCause } from '../../policy/run-context.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { hasDueCalls, isModelDue } from '../../thread/thread-status.ts';
import { startsDue } from '../calls/check-due-calls.ts';
import { type DecisionInput, decisionInput } from '../calls/decide-calls.ts';
import type { PreliminaryResult } from '../calls/execute-call.ts';
import { unlessGrantEnded } from '../calls/find-grant.ts';
import { refuseMissingTools, type ToolDefinitions } from '../calls/tool-definitions.ts';
import type { ParsedInput } from '../input/parse-input.ts';
import type { DeltaReceiver } from '../model/streaming-model.ts';
import type { AgentContext } from './agent-context.ts';
import { Executions } from './executions.ts';
import { Lease, LeaseLost } from './lease.ts';
import { RunOpening } from './open-run.ts';
import { notifyStepEnd } from './own-settings.ts';
import { type Finished, recordResults } from './record-results.ts';
import { endStatusOf, type RunEnd } from './run-end.ts';
import type { RunOptions } from './run-options.ts';
import { RunSignal } from './run-signal.ts';
import { AnswerSending, type SentAnswer, sentEvents } from './send-answers.ts';
import { ModelSteps } from './take-step.ts';

/** The settings of a run. */
export interface RunSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  options: RunOptions<unknown>;
  cause: RunCause;
  /** Receives the model's deltas: the only difference of a streamed run. */
  receiver?: DeltaReceiver | undefined;
  /** Receives every event that the run appended. */
  onEvents: (events: readonly ThreadEvent[]) => void;
  /** Receives the preliminary results of tools. */
  onPreliminary?: ((result: PreliminaryResult) => void) | undefined;
}

/**
 * One run of a thread: from its input to the point where it waits for a person, or is complete. It holds the thread by a lease, and
 * appends before it acts.
 */
export class Run {
  readonly #context: AgentContext;
  readonly #setting: RunSetting;
  readonly #log: ThreadLog;
  readonly #signal: RunSignal;
  readonly #lease: Lease;
  readonly #opening: RunOpening;
  readonly #steps: ModelSteps;
  readonly #executions: Executions;
  readonly #sending: AnswerSending;

  constructor(context: AgentContext, setting: RunSetting) {
    const { log, tools, options, cause, receiver, onEvents, onPreliminary } = setting;
    this.#context = context;
    this.#setting = setting;
    this.#log = log;
    this.#signal = new RunSignal(options.abortSignal, context.limits);
    this.#lease = new Lease(context, log, cause);
    this.#steps = new ModelSteps(context, { receiver, continues: log.state.head.isOutOfSteps });
    const { signal } = this.#signal;
    const working = { log, tools, lease: this.#lease, signal };
    this.#opening = new RunOpening(context, { ...working, options, cause, onEvents });
    this.#sending = new AnswerSending({ ...working, wake: () => this.#executions.wake() });
    this.#executions = new Executions(context, {
      ...working,
      isStopped: () => this.#signal.isStop(signal.reason),
      run: setting,
      onPreliminary,
    });
  }

  /** Performs the run to its end. */
  async perform(input: ParsedInput): Promise<RunEnd> {
    this.#signal.signal.throwIfAborted();
    const events = await this.#opening.open(input);
    if (events === undefined) return this.#end();
    await this.#begin(events);
    try {
      await this.#work();
      return this.#end();
    } catch (error) {
      return this.#endEarly(error);
    }
  }

  /** Works until the run no longer holds the thread, and renews the lease meanwhile. */
  async #work(): Promise<void> {
    this.#signal.beginRun();
    const stopRenewing = this.#lease.isHeld
      ? this.#lease.keepRenewed(() => this.#onNews())
      : undefined;
    try {
      if (!this.#lease.isHeld) this.#signal.signal.throwIfAborted();
      while (this.#lease.isHeld) await this.#continue();
    } finally {
      stopRenewing?.();
      this.#signal.end();
      this.#sending.stop();
      this.#executions.leave();
    }
  }

  /** Called when others may have appended. */
  #onNews(): void {
    if (this.#lease.isStopping) this.#signal.stop();
    this.#executions.wake();
  }

  /** One advance. A run that stalled past its lease takes the thread again if no other run has begun. */
  async #continue(): Promise<void> {
    if (this.#lease.isStopping) this.#signal.stop();
    try {
      await this.#advance();
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      await this.#takeAgain();
    }
  }

  /** Waits for the calls that still run here but are recorded as lost, and takes the thread again. */
  async #takeAgain(): Promise<void> {
    const { signal } = this.#signal;
    while (!this.#lease.isTakenOver) {
      const finished = this.#executions.take();
      if (finished.length > 0) {
        await this.#recordFinished(finished).catch(unlessLost);
        continue;
      }
      if (!this.#executions.pending) return this.#begin(await this.#opening.openAgain());
      if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
      await this.#executions.wait();
    }
  }

  /** Does what is next: records results, starts approved calls, waits for running ones, asks the model, or ends. */
  async #advance(): Promise<void> {
    const { signal } = this.#signal;
    const finished = this.#executions.take();
    if (finished.length > 0) return this.#recordFinished(finished);
    const sent = this.#sending.take();
    if (sent.length > 0) return this.#recordSent(sent);
    if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
    if (!signal.aborted) this.#sending.update(this.#log.state);
    const mayStart = !signal.aborted && hasDueCalls(this.#log.state.head, this.#context.now());
    if (mayStart && (await this.#startDue())) return;
    if (this.#executions.pending || this.#sending.pending) {
      await this.#executions.wait();
      return;
    }
    const { state } = this.#log;
    refuseMissingTools(state, this.#setting.tools, this.#context.now());
    if (isModelDue(state.head) && (await this.#steps.mayTake(state, signal)))
      await this.#askModel();
    else await this.#commit(() => [this.#lease.ended()]);
  }

  /** Records the results that have come in. They are facts, recorded even if the lease was lost meanwhile. */
  async #recordFinished(finished: readonly Finished[]): Promise<void> {
    await recordResults(this.#context, this.#log, finished, async (make) =>
      this.#commit(make, { evenWhenLost: true }),
    );
  }

  /** Records which answers were sent to the tools that asked. */
  async #recordSent(sent: readonly SentAnswer[]): Promise<void> {
    const make = ({ head }: Proposal): ThreadEvent[] => sentEvents(head, sent, this.#context.now());
    await this.#commit(make, { evenWhenLost: true });
  }

  /** Starts the calls that pass a last check: approved ones, and those whose turn it is. Resumes the delegated calls that are due. */
  async #startDue(): Promise<boolean> {
    const { state } = this.#log;
    const checking = startsDue(this.#decisions(), state);
    const starts = await unlessAborted(checking, this.#signal.signal);
    if (starts === undefined) return true;
    if (starts.isEmpty) return false;
    await this.#commit(({ head }) => starts.events(head)).catch(unlessGrantEnded);
    return true;
  }

  async #askModel(): Promise<void> {
    /* Nothing starts when the lease has expired: this renews it, or finds that another run has the thread. */
    if (this.#lease.hasExpired) return this.#commit(() => []);
    const { state } = this.#log;
    const before = this.#context.beforeStep?.(state, this.#context.now()) ?? [];
    if (before.length > 0) return this.#commit(() => before);
    this.#signal.beginStep();
    const decisions = this.#decisions(state.messages.length);
    const { decided } = state.head;
    const events = await this.#steps.take({ decisions, state, signal: this.#signal.signal });
    /* A step that used an approval that has been taken back is not recorded, but repeated. */
    await this.#commit(({ head }) => (head.decided === decided ? events : []));
    if (!this.#lease.isStopping) this.#steps.recorded();
  }

  /** Appends under the lease, then starts the calls that were recorded as started, and no others. */
  async #commit(
    make: (proposal: Proposal) => readonly ThreadEvent[],
    options: { evenWhenLost?: boolean } = {},
  ): Promise<void> {
    await this.#begin(await this.#lease.commit(make, options));
  }

  /** After an append: starts the calls that it recorded as started. */
  async #begin(events: readonly ThreadEvent[]): Promise<void> {
    this.#setting.onEvents(events);
    const { onStepEnd } = this.#context;
    if (onStepEnd !== undefined) notifyStepEnd(onStepEnd, this.#log.state, events);
    if (events.some(({ type }) => type === 'call-started')) await this.#executions.start(events);
  }

  /** By default for the calls of the open step, whose assistant message is the last. */
  #decisions(messageCount = this.#log.state.messages.length - 1): DecisionInput {
    return decisionInput(this.#context, this.#log.state, this.#setting, messageCount);
  }

  /** Releases the thread before the work is done. A stop is a normal end; any other failure is thrown. */
  async #endEarly(failure: unknown): Promise<RunEnd> {
    const error = errorText(failure).slice(0, 500).toWellFormed();
    const events = this.#lease.isHeld
      ? await this.#lease.release(error, this.#signal.isAbort(failure), this.#steps.partial)
      : [];
    if (!this.#signal.isStop(failure)) throw failure;
    this.#setting.onEvents(events);
    const partial = events.find((event) => event.type === 'step-finished');
    this.#steps.interrupted(partial?.finishReason);
    return this.#end();
  }

  #end(): RunEnd {
    const status = endStatusOf(this.#log.state, this.#context.now());
    return { status: this.#lease.isTakenOver ? 'running' : status, ...this.#steps.summary };
  }
}

function unlessLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error;
}
