import type { LanguageModelUsage } from 'ai';
import { HoldpointError } from '../errors.ts';
import { Proposal } from '../thread/proposal.ts';
import type { NewThreadEvent, ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import {
  endsTurn,
  modelSpeaks,
  owesRun,
  statusOf,
  type ThreadHead,
} from '../thread/thread-state.ts';
import { traceCall, traceLost } from '../thread/tracing.ts';
import { acceptInput } from './accept-input.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunOptions } from './agent-options.ts';
import { approvedCalls, checkApproved, eventsOfApproved } from './check-approved.ts';
import { broughtEvents, Deliveries } from './deliveries.ts';
import { executeCall } from './execute-call.ts';
import type { DecisionInput } from './decide-calls.ts';
import { Executions, type Finished } from './executions.ts';
import { firstMessages } from './first-messages.ts';
import { handOver, recordLate } from './late-results.ts';
import { Lease, LeaseLost } from './lease.ts';
import { addUsage, messageOf } from './model-step.ts';
import type { ParsedInput } from './parse-input.ts';
import { reconcileCalls, restartsOf } from './recover-calls.ts';
import { resultEvents } from './result-events.ts';
import type { ModelListener } from './streaming-model.ts';
import { takeStep } from './take-step.ts';
import type { ToolDefinitions } from './tool-definitions.ts';
import { withRetries } from './with-retries.ts';

/** How a run ended, beside what the log says. */
export interface RunEnd {
  status: 'completed' | 'waiting' | 'running' | 'indeterminate' | 'max-steps' | 'cancelled';
  usage: LanguageModelUsage | undefined;
  finishReason: string | undefined;
}

/** What a run works with. */
export interface RunSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  options: RunOptions<unknown>;
  /** Who hears the model while it speaks: the one thing in which a streamed run differs. */
  listener?: ModelListener | undefined;
  /** Told of every event that the run appended. */
  onEvents: (events: readonly ThreadEvent[]) => void;
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
  readonly #executions: Executions;
  readonly #deliveries: Deliveries;
  readonly #lease: Lease;
  #holding = false;
  #steps = 0;
  #usage: LanguageModelUsage | undefined;
  #finishReason: string | undefined;

  constructor(context: AgentContext, { log, tools, options, listener, onEvents }: RunSetting) {
    this.#context = context;
    this.#log = log;
    this.#tools = tools;
    this.#options = options;
    this.#listener = listener;
    this.#onEvents = onEvents;
    this.#executions = new Executions(context.abortGraceMs);
    this.#deliveries = new Deliveries({
      tools,
      signal: options.signal,
      pull: async () => log.pull(),
      ring: () => this.#executions.ring(),
    });
    this.#lease = new Lease(context, log);
  }

  /** Runs to the end. */
  async play(input: ParsedInput): Promise<RunEnd> {
    this.#options.signal?.throwIfAborted();
    this.#onEvents(await this.#reconcile());
    const opening = await this.#open(input);
    const stopRenewing = this.#holding
      ? this.#lease.keep(() => this.#executions.ring())
      : undefined;
    let failure: unknown;
    try {
      this.#onEvents(opening);
      while (this.#holding) this.#onEvents(await this.#advance());
      return this.#end();
    } catch (error) {
      failure = error instanceof LeaseLost ? undefined : error;
      if (failure === undefined) return this.#end('running');
      throw error;
    } finally {
      stopRenewing?.();
      this.#deliveries.stop();
      this.#executions.leave((late) => void recordLate(this.#context, this.#log, late));
      if (this.#holding) await this.#lease.letGo(messageOf(failure).slice(0, 500));
    }
  }

  /** Asks tools what became of calls whose process is gone. Results are facts, and need no hold on the thread. */
  async #reconcile(): Promise<readonly ThreadEvent[]> {
    const { state } = this.#log;
    if (statusOf(state.head, this.#context.now()) !== 'indeterminate') return [];
    const { revision } = this.#log;
    const known = await reconcileCalls(this.#context, this.#tools, state.head);
    const events = await this.#log.commit((proposal) => {
      /* Another attempt may have begun meanwhile, of which the tool was not asked. */
      if (this.#log.revision === revision) proposal.add(...known);
    });
    if (statusOf(state.head, this.#context.now()) === 'indeterminate') {
      traceLost(state, this.#context.toldLost);
    }
    return events;
  }

  /** Records the input, and takes the thread when there is something to do that nobody does. */
  async #open(input: ParsedInput): Promise<readonly ThreadEvent[]> {
    const { whilePending = 'refuse' } = this.#options;
    const accept = (proposal: Proposal): void =>
      acceptInput(proposal, input, {
        tools: this.#tools,
        now: this.#context.now(),
        whilePending,
      });
    const expected = new Proposal(this.#log.state);
    if (input.answers.length > 0) accept(expected);
    /* Looked into before the append, as rules may take their time; what has changed by then is not begun. */
    const { revision } = this.#log;
    const restarts = await restartsOf(this.#context, this.#decisionsOfStep(), this.#log.state);
    const starts = await this.#checkApproved(expected.head);
    const events = await this.#log.commit((proposal) => {
      accept(proposal);
      const { head } = proposal;
      const lost = head.calls.filter((call) => call.status === 'started');
      const again = this.#log.revision === revision ? restarts : [];
      const isRunning = statusOf(head, this.#context.now()) === 'running';
      const begun = [...again, ...eventsOfApproved(head, starts)];
      const isWanted = again.length > 0 || owesRun(head);
      this.#holding = !isRunning && again.length === lost.length && isWanted;
      if (!this.#holding) return;
      proposal.add(this.#lease.started(), ...begun);
      this.#endWhenDone(proposal);
    });
    return this.#begin(events);
  }

  /** One more step of the run, whichever is next: record, start, wait, or ask the model. */
  async #advance(): Promise<readonly ThreadEvent[]> {
    const { signal } = this.#options;
    const finished = this.#executions.take();
    if (finished.length > 0) return this.#recordResults(finished);
    const brought = this.#deliveries.take();
    if (brought.length > 0) {
      return this.#commit(({ head }) => broughtEvents(head, brought, this.#context.now()), {
        evenWhenLost: true,
      });
    }
    if (signal?.aborted === true && this.#executions.mayEnd) throw signal.reason;
    if (signal?.aborted !== true) {
      this.#deliveries.update(this.#log.state);
      const starts = await this.#checkApproved(this.#log.state.head);
      if (starts.size > 0) return this.#commit(({ head }) => eventsOfApproved(head, starts));
    }
    if (this.#executions.pending || this.#deliveries.pending) {
      await this.#executions.wait(signal);
      return [];
    }
    const speaks = modelSpeaks(this.#log.state.head) && this.#steps < this.#context.maxSteps;
    return speaks ? this.#askModel() : this.#commit(() => [this.#lease.ended()]);
  }

  async #askModel(): Promise<readonly ThreadEvent[]> {
    const { state } = this.#log;
    const { events, usage, finishReason } = await takeStep({
      context: this.#context,
      decisions: this.#decisionInput(state.messages.length),
      state,
      signal: this.#options.signal,
      listener: this.#listener,
    });
    this.#steps += 1;
    this.#usage = addUsage(this.#usage, usage);
    this.#finishReason = finishReason;
    return this.#commit(() => events);
  }

  /** Results are facts: they are recorded also when the lease was lost meanwhile, and not given up at the first fault. */
  async #recordResults(finished: readonly Finished[]): Promise<readonly ThreadEvent[]> {
    const make = ({ head }: Proposal): NewThreadEvent[] =>
      resultEvents(head, finished, this.#context.now());
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

  /** What the approved calls of a head lead to, by request: their start, or why they may not start. */
  async #checkApproved(head: ThreadHead): Promise<Map<string, readonly NewThreadEvent[]>> {
    const { state } = this.#log;
    const decisions = this.#decisionsOfStep();
    const checked = await Promise.all(
      approvedCalls(state, head).map(
        async (approved): Promise<[string, readonly NewThreadEvent[]]> => [
          approved.request.requestId,
          await checkApproved(decisions, approved),
        ],
      ),
    );
    return new Map(checked);
  }

  /** Appends as the holder of the thread, with the run's end when nothing is left to do; starts what it recorded. */
  async #commit(
    make: (proposal: Proposal) => NewThreadEvent[],
    { evenWhenLost = false } = {},
  ): Promise<readonly ThreadEvent[]> {
    let lost = false;
    const events = await this.#log.commit((proposal) => {
      lost = !this.#lease.holds(proposal.state);
      if (lost && !evenWhenLost) return;
      proposal.add(...make(proposal));
      if (!lost) this.#endWhenDone(proposal);
    });
    if (lost) {
      this.#holding = false;
      throw new LeaseLost();
    }
    return this.#begin(events);
  }

  #endWhenDone(proposal: Proposal): void {
    const { head } = proposal;
    const busy = head.calls.some(({ status }) => status === 'started');
    if (head.run === undefined || busy || owesRun(head)) return;
    proposal.add(this.#lease.ended());
  }

  /** After the append: the calls that are recorded as started do start, and an ended run holds nothing. */
  #begin(events: readonly ThreadEvent[]): readonly ThreadEvent[] {
    const { state } = this.#log;
    const { signal } = this.#options;
    const messages = firstMessages(state, state.messages.length - 1);
    for (const event of events) {
      if (event.type === 'run-ended') this.#holding = false;
      if (event.type !== 'call-started') continue;
      const { step, index } = event;
      const call = state.head.calls[index];
      const definition = call && this.#tools.get(call.toolName);
      if (call === undefined || definition === undefined) continue;
      const attempt = { step, index, attempt: call.attempts };
      const around = async (work: () => Promise<unknown>): Promise<unknown> =>
        traceCall(state, call, work);
      const { threadId } = state;
      const options = { threadId, messages, signal, around };
      this.#executions.add(attempt, executeCall(definition, call, options));
    }
    return events;
  }

  /** For the calls of the open step, whose assistant message is the last. */
  #decisionsOfStep(): DecisionInput {
    return this.#decisionInput(this.#log.state.messages.length - 1);
  }

  #decisionInput(messageCount: number): DecisionInput {
    const { options, now, generateId } = this.#context;
    return {
      threadId: this.#log.state.threadId,
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

  #end(status: RunEnd['status'] = this.#status()): RunEnd {
    return { status, usage: this.#usage, finishReason: this.#finishReason };
  }

  #status(): RunEnd['status'] {
    const { head } = this.#log.state;
    const status = statusOf(head, this.#context.now());
    if (status !== 'idle') return status;
    if (modelSpeaks(head)) return 'max-steps';
    /* Results that the model is not told before the next message: a person ended the turn. */
    const { settledCalls } = this.#log.state;
    const isPast = (step: number): boolean => step < head.steps - 1;
    const last = settledCalls.findLast((call) => endsTurn(call) || isPast(call.step));
    return last === undefined || isPast(last.step) ? 'completed' : 'cancelled';
  }
}
