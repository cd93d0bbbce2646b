import type { LanguageModelUsage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import { Proposal } from '../../thread/proposal.ts';
import type { StepMetadata, ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  isAbandoned,
  isRunning,
  isUnsettled,
  lastHash,
  modelSpeaks,
  nextDeadlineOf,
  owesRun,
} from '../../thread/thread-state.ts';
import { acceptInput } from '../input/accept-input.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunOptions } from '../agent-options.ts';
import {
  type CheckedCalls,
  checkApprovedCalls,
  eventsOfApproved,
} from '../calls/approved-calls.ts';
import { broughtEvents, Deliveries } from './send-answers.ts';
import type { DecisionInput } from '../calls/decide-calls.ts';
import type { PreliminaryResult } from '../calls/execute-call.ts';
import { Executions, type Finished } from './executions.ts';
import { firstMessages } from './first-messages.ts';
import { handOver, recordLate } from './late-results.ts';
import { Lease, LeaseLost } from './lease.ts';
import { recordAbandoned } from './lost-calls.ts';
import { refuseMissingTools } from '../calls/missing-tools.ts';
import { addUsage, messageOf } from '../model/model-step.ts';
import type { ParsedInput } from '../input/parse-input.ts';
import { failedRecoveries, reconcileCalls, restartsOf } from './recover-calls.ts';
import { callOf, resultEvents } from './record-results.ts';
import { endStatusOf, type RunEnd } from './run-end.ts';
import { RunSignal } from './run-signal.ts';
import { SaidSoFar } from '../model/partial-text.ts';
import type { ModelListener } from '../model/streaming-model.ts';
import { startCalls } from './start-calls.ts';
import { takeStep } from './take-step.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { unlessAborted } from '../../content/until-aborted.ts';
import { withRetries } from './with-retries.ts';

const noCalls: CheckedCalls = new Map();
const nothing: ParsedInput = { messages: [], answers: [], by: {} };

/** What a run works with. */
export interface RunSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  options: RunOptions<unknown>;
  /** Who hears the model while it speaks: the one thing in which a streamed run differs. */
  listener?: ModelListener | undefined;
  /** Told of every event that the run appended. */
  onEvents: (events: readonly ThreadEvent[]) => void;
  /** Gets what tools yield before their results. */
  onPreliminary?: ((result: PreliminaryResult) => void) | undefined;
}

/**
 * One run of a thread: from its input to the point where a person, or nobody, is next. It holds the thread by a
 * lease, appends before it acts, and tells of every event it appended.
 */
export class Run {
  readonly #context: AgentContext;
  readonly #log: ThreadLog;
  readonly #options: RunOptions<unknown>;
  readonly #tools: ToolDefinitions;
  readonly #listener: ModelListener | undefined;
  readonly #onEvents: RunSetting['onEvents'];
  readonly #onPreliminary: RunSetting['onPreliminary'];
  readonly #executions: Executions;
  readonly #deliveries: Deliveries;
  readonly #lease: Lease;
  readonly #ending: RunSignal;
  #steps = 0;
  #usage: LanguageModelUsage | undefined;
  #said: SaidSoFar | undefined;
  #finishReason: string | undefined;
  #metadata: StepMetadata | undefined;

  constructor(context: AgentContext, setting: RunSetting) {
    const { log, tools, options, listener, onEvents, onPreliminary } = setting;
    this.#context = context;
    this.#log = log;
    this.#tools = tools;
    this.#options = options;
    this.#listener = listener;
    this.#onEvents = onEvents;
    this.#onPreliminary = onPreliminary;
    this.#ending = new RunSignal(options.abortSignal, context.limits);
    this.#executions = new Executions(context.abortGraceMs, (late) => {
      void recordLate(context, log, late);
    });
    this.#deliveries = new Deliveries({
      tools,
      signal: this.#ending.signal,
      pull: async () => log.pull(),
      ring: () => this.#executions.ring(),
    });
    this.#lease = new Lease(context, log);
  }

  /** Runs to the end. */
  async play(input: ParsedInput): Promise<RunEnd> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    if (isAbandoned(this.#log.state.head, this.#context.now())) {
      /* Bad input is refused before anything is recorded. */
      this.#accept(new Proposal(this.#log.state), input);
      this.#onEvents(await recordAbandoned(this.#context, this.#log));
    }
    if (this.#isTooEarly()) return this.#end();
    const reconciling = reconcileCalls(this.#context, this.#tools, this.#log);
    this.#onEvents((await unlessAborted(reconciling, signal)) ?? []);
    await this.#open(input);
    try {
      await this.#work();
      return this.#end();
    } catch (error) {
      return this.#endEarly(error);
    }
  }

  /** Holds the thread for as long as there is something to do. */
  async #work(): Promise<void> {
    this.#ending.beginRun();
    const stopRenewing = this.#lease.isHeld ? this.#lease.keep(() => this.#notice()) : undefined;
    try {
      if (!this.#lease.isHeld) this.#ending.signal.throwIfAborted();
      while (this.#lease.isHeld) await this.#goOn();
    } finally {
      stopRenewing?.();
      this.#ending.end();
      this.#deliveries.stop();
      this.#executions.leave();
    }
  }

  /** Others have appended. */
  #notice(): void {
    if (this.#lease.isStopping) this.#ending.stop();
    this.#executions.ring();
  }

  /** Gives the thread back before the work is done. A stop is an end like others; any other failure is thrown. */
  async #endEarly(failure: unknown): Promise<RunEnd> {
    const error = messageOf(failure).slice(0, 500).toWellFormed();
    const events = this.#lease.isHeld
      ? await this.#lease.letGo(error, this.#ending.isAbort(failure), this.#said?.message)
      : [];
    if (!this.#ending.isStop(failure)) throw failure;
    this.#onEvents(events);
    this.#finishReason = events.find((event) => event.type === 'step-finished')?.finishReason;
    return this.#end();
  }

  /** One more step of the run. Where it has stalled past its lease, and nobody has run the thread since, it takes the thread again. */
  async #goOn(): Promise<void> {
    if (this.#lease.isStopping) this.#ending.stop();
    try {
      await this.#advance();
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      await this.#takeAgain();
    }
  }

  /** Waits for the calls that still run here, which the log holds for lost, and takes the thread again. */
  async #takeAgain(): Promise<void> {
    const { signal } = this.#ending;
    while (!this.#lease.isTakenOver) {
      this.#executions.keep((attempt) => callOf(this.#log.state.head, attempt) !== undefined);
      const finished = this.#executions.take();
      if (finished.length > 0) await this.#recordResults(finished).catch(unlessLost);
      else if (!this.#executions.pending) return this.#open(nothing);
      else if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
      else await this.#executions.wait(signal);
    }
  }

  #accept(proposal: Proposal, input: ParsedInput): void {
    const { whilePending = 'refuse' } = this.#options;
    const now = this.#context.now();
    acceptInput(proposal, input, { tools: this.#tools, now, whilePending });
  }

  /** Whether a scheduler woke before the time that the log names. */
  #isTooEarly(): boolean {
    const { head } = this.#log.state;
    return (
      this.#options.onlyWhenDue === true && (nextDeadlineOf(head) ?? Infinity) > this.#context.now()
    );
  }

  /** Records the input, and takes the thread when there is something to do that nobody does. */
  async #open(input: ParsedInput): Promise<void> {
    const { signal } = this.#ending;
    const expected = new Proposal(this.#log.state);
    if (input.answers.length > 0) this.#accept(expected, input);
    /* Looked into before the append, as rules may take their time; what has changed by then is not begun, nor what is aborted. */
    const { state, revision } = this.#log;
    const decisions = this.#decisionsOfStep();
    const looking = Promise.all([
      restartsOf(this.#context, decisions, state),
      checkApprovedCalls(decisions, state, expected.head),
    ]);
    const [restarts = [], starts = noCalls] = (await unlessAborted(looking, signal)) ?? [];
    const events = await this.#lease.take((proposal) => {
      /* Another scheduler may have been here first. */
      if (input !== nothing && this.#isTooEarly()) return undefined;
      this.#accept(proposal, input);
      const { head } = proposal;
      const now = this.#context.now();
      const lost = head.calls.filter(isUnsettled);
      const again = this.#log.revision === revision ? restarts : [];
      const isWanted = again.length > 0 || owesRun(head);
      if (!isRunning(head, now) && again.length === lost.length && isWanted) {
        return [...again, ...eventsOfApproved(head, starts)];
      }
      if (!signal.aborted && this.#log.revision === revision)
        proposal.add(...failedRecoveries(this.#context, head, { at: now, hash: lastHash(state) }));
      return undefined;
    });
    await this.#begin(events);
  }

  /** One more step of the run, whichever is next: record, start, wait, or ask the model. */
  async #advance(): Promise<void> {
    const { signal } = this.#ending;
    this.#executions.keep((attempt) => callOf(this.#log.state.head, attempt) !== undefined);
    const finished = this.#executions.take();
    if (finished.length > 0) return this.#recordResults(finished);
    const brought = this.#deliveries.take();
    if (brought.length > 0) {
      return this.#commit(({ head }) => broughtEvents(head, brought, this.#context.now()), {
        evenWhenLost: true,
      });
    }
    if (signal.aborted && this.#executions.mayEnd) throw signal.reason;
    if (!signal.aborted) {
      const { state } = this.#log;
      this.#deliveries.update(state);
      const looking = checkApprovedCalls(this.#decisionsOfStep(), state, state.head);
      const starts = await unlessAborted(looking, signal);
      if (starts === undefined) return;
      if (starts.size > 0) return this.#commit(({ head }) => eventsOfApproved(head, starts));
    }
    if (this.#executions.pending || this.#deliveries.pending) {
      await this.#executions.wait(signal);
      return;
    }
    refuseMissingTools(this.#log.state, this.#tools);
    const speaks = modelSpeaks(this.#log.state.head) && this.#steps < this.#context.maxSteps;
    return speaks ? this.#askModel() : this.#commit(() => [this.#lease.ended()]);
  }

  async #askModel(): Promise<void> {
    /* Nothing is begun on a lease that has run out: this renews it, or finds that another run has the thread. */
    if (this.#lease.isOver) return this.#commit(() => []);
    const { state } = this.#log;
    this.#ending.beginStep();
    this.#said = this.#listener && new SaidSoFar(this.#listener);
    const { events, usage, finishReason, metadata } = await takeStep({
      context: this.#context,
      decisions: this.#decisionInput(state.messages.length),
      state,
      signal: this.#ending.signal,
      listener: this.#said,
    });
    this.#steps += 1;
    this.#usage = addUsage(this.#usage, usage);
    this.#finishReason = finishReason;
    this.#metadata = metadata;
    await this.#commit(() => events);
    if (!this.#lease.isStopping) this.#said = undefined;
  }

  /** Results are facts: they are recorded also when the lease was lost meanwhile, and not given up at the first fault. */
  async #recordResults(finished: readonly Finished[]): Promise<void> {
    const make = (proposal: Proposal): ThreadEvent[] =>
      resultEvents(this.#context, proposal, finished);
    try {
      return await withRetries(
        async () => this.#commit(make, { evenWhenLost: true }),
        (error) => error instanceof LeaseLost || HoldpointError.isInstance(error),
      );
    } catch (error) {
      if (!(error instanceof LeaseLost)) handOver(this.#context, this.#log, finished, error);
      throw error;
    }
  }

  /** Appends under the lease; what that records as started starts after it, and never without it. */
  async #commit(
    make: (proposal: Proposal) => readonly ThreadEvent[],
    options: { evenWhenLost?: boolean } = {},
  ): Promise<void> {
    await this.#begin(await this.#lease.commit(make, options));
  }

  /** After the append: the calls that are recorded as started do start. */
  async #begin(events: readonly ThreadEvent[]): Promise<void> {
    this.#onEvents(events);
    await startCalls(
      {
        log: this.#log,
        tools: this.#tools,
        lease: this.#lease,
        executions: this.#executions,
        signal: this.#ending.signal,
        limitOf: this.#context.limits.tool,
        graceMs: this.#context.abortGraceMs,
        onPreliminary: this.#onPreliminary,
      },
      events,
    );
  }

  /** For the calls of the open step, whose assistant message is the last. */
  #decisionsOfStep(): DecisionInput {
    return this.#decisionInput(this.#log.state.messages.length - 1);
  }

  #decisionInput(messageCount: number): DecisionInput {
    const { options, now, generateId } = this.#context;
    return {
      threadId: this.#log.state.threadId,
      requestedBy: this.#log.state.head.requestedBy,
      tools: this.#tools,
      rules: {
        toolApproval: options.toolApproval,
        tools: options.tools,
        toolsContext: options.toolsContext ?? {},
        runtimeContext: this.#options.runtimeContext ?? {},
        messages: firstMessages(this.#log.state, messageCount),
      },
      now,
      generateId,
    };
  }

  #end(): RunEnd {
    const status = endStatusOf(this.#log.state, this.#context.now());
    return {
      status: this.#lease.isTakenOver ? 'running' : status,
      usage: this.#usage,
      finishReason: this.#finishReason,
      metadata: this.#metadata,
    };
  }
}

function unlessLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error;
}
