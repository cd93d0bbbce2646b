import { traceCall } from '../../thread/tracing.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { WakeUp } from '../../content/wake-up.ts';
import type { CausedRun } from '../../policy/run-context.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { firstMessages } from '../calls/decide-calls.ts';
import {
  describeOrigin,
  executeCall,
  notRun,
  type PreliminaryResult,
} from '../calls/execute-call.ts';
import type { Execution, Reporting } from '../calls/execution.ts';
import { awaitedCall } from '../../thread/thread-head.ts';
import type { ToolDefinition, ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AgentContext } from './agent-context.ts';
import { delegatedWork } from './delegated-work.ts';
import type { Lease } from './lease.ts';
import { type Attempt, type Finished, recordLate } from './record-results.ts';
import { startLimit } from './run-signal.ts';

/** The settings of `Executions`. */
interface ExecutionSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  lease: Lease;
  /** Aborts when the run ends early. */
  signal: AbortSignal;
  /** Whether a person stopped the run, and not the app or a time limit. */
  isStopped: () => boolean;
  run: CausedRun;
  onPreliminary: ((result: PreliminaryResult) => void) | undefined;
}

interface StartedCall {
  call: ToolCallRecord;
  definition: ToolDefinition;
}

/* Results that come this close together, in milliseconds, are recorded in one append. */
const groupMs = 10;

/** The calls that one run is executing, and their results until they are recorded. */
export class Executions {
  readonly #context: AgentContext;
  readonly #setting: ExecutionSetting;
  readonly #wakeUp = new WakeUp();
  readonly #running = new Set<Attempt>();
  #finished: Finished[] = [];
  #isLeft = false;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #graceIsOver = false;

  constructor(context: AgentContext, setting: ExecutionSetting) {
    this.#context = context;
    this.#setting = setting;
  }

  /** Whether a call is running, or has a result that `take` has not returned yet. */
  get pending(): boolean {
    return this.#running.size > 0 || this.#finished.length > 0;
  }

  /** Whether no call is running, or the time that tools have after an abort is over. */
  get mayEnd(): boolean {
    return this.#running.size === 0 || this.#graceIsOver;
  }

  /** Right after an append: starts the calls that it records as started, unless the lease has expired. */
  async start(events: readonly ThreadEvent[]): Promise<void> {
    const { log, tools, lease } = this.#setting;
    const started = startedBy(events, log.state.head.calls, tools);
    if (started.length === 0) return;
    /* The fence: the append may have taken so long that other processes have recorded the calls as lost, and settled or restarted them. */
    const isTooLate = lease.hasExpired;
    if (isTooLate) await log.pull();
    const messages = firstMessages(log.state, log.state.messages.length - 1);
    for (const each of started) {
      const { step, index, attempts } = each.call;
      const attempt = { step, index, attempt: attempts };
      this.#running.add(attempt);
      const execution = isTooLate
        ? notRun(each.definition)
        : this.#executeInTime(each, attempt, messages);
      void execution.then((result) => this.#finish({ attempt, execution: result }));
    }
  }

  /** The results since the last `take`. A call that has already ended in another way is no longer waited for: its tool may never return. */
  take(): Finished[] {
    const { head } = this.#setting.log.state;
    for (const attempt of this.#running) {
      if (awaitedCall(head, attempt) === undefined) this.#running.delete(attempt);
    }
    const taken = this.#finished;
    this.#finished = [];
    return taken;
  }

  /** Waits for a result, for `wake`, or for the end of the grace time that begins when the run's signal aborts. */
  async wait(): Promise<void> {
    if (this.#finished.length > 0) return;
    const stop = this.#startGrace(this.#setting.signal);
    await this.#wakeUp.wait();
    stop();
    await this.#gather();
  }

  /** Ends a wait: something has changed elsewhere. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** The run is over: results that come later, or that `take` has not returned, are recorded as late ones. */
  leave(): void {
    this.#isLeft = true;
    clearTimeout(this.#graceTimer);
    for (const finished of this.#finished.splice(0)) this.#recordLate(finished);
  }

  #finish(finished: Finished): void {
    const isAwaited = this.#running.delete(finished.attempt);
    if (this.#isLeft || !isAwaited) {
      this.#recordLate(finished);
      return;
    }
    this.#push(finished);
  }

  /** What is known about an attempt replaces what was known before. */
  #push(finished: Finished): void {
    const others = this.#finished.filter(({ attempt }) => attempt !== finished.attempt);
    this.#finished = [...others, finished];
    this.#wakeUp.wake();
  }

  #recordLate(finished: Finished): void {
    void recordLate(this.#context, this.#setting.log, finished);
  }

  /** Executes a call for as long as its tool may take. The outcome of one that ignores its time limit is unknown. */
  async #executeInTime(
    started: StartedCall,
    attempt: Attempt,
    messages: ReturnType<typeof firstMessages>,
  ): Promise<Execution> {
    const { limits, abortGraceMs: graceMs } = this.#context;
    const { signal } = this.#setting;
    const { toolName } = started.call;
    const milliseconds = limits.tool(toolName);
    if (milliseconds === undefined) return this.#execute(started, attempt, { signal, messages });
    const onIgnored = (): void => this.#giveUp(attempt);
    const limit = startLimit(milliseconds, `Tool '${toolName}'`, { graceMs, onIgnored });
    /* After an abort only the run's own grace time applies, and this timer must not keep the process alive. */
    signal.addEventListener('abort', limit.end, { once: true });
    try {
      const both = AbortSignal.any([signal, limit.signal]);
      return await this.#execute(started, attempt, { signal: both, messages });
    } finally {
      signal.removeEventListener('abort', limit.end);
      limit.end();
    }
  }

  async #execute(
    { call, definition }: StartedCall,
    attempt: Attempt,
    { signal, messages }: { signal: AbortSignal; messages: ReturnType<typeof firstMessages> },
  ): Promise<Execution> {
    const { log, onPreliminary } = this.#setting;
    const traced = { call, description: definition.tool.description };
    const around = async <RESULT>(work: () => Promise<RESULT>): Promise<RESULT> =>
      traceCall(log.state, traced, work);
    const { delegation } = definition;
    if (delegation !== undefined) {
      const report = (events: Reporting): void => {
        if (this.#running.has(attempt))
          this.#push({ attempt, execution: { type: 'delegated', events } });
      };
      const work = delegatedWork(this.#context, this.#setting, { call, signal, report });
      return around(async () => delegation.work(definition.tool, call, work));
    }
    const origin = describeOrigin(log.state, this.#context.principalId);
    return executeCall(definition, call, { origin, messages, signal, onPreliminary, around });
  }

  /** Stops waiting for a call that ignores its time limit: what it returns afterwards is late. */
  #giveUp(attempt: Attempt): void {
    if (this.#running.delete(attempt)) this.#push({ attempt, execution: { type: 'lost' } });
  }

  /** Results of fast calls come in at the same moment: one append for all of them. */
  async #gather(): Promise<void> {
    const time = { isUp: false };
    const timer = setTimeout(() => {
      time.isUp = true;
      this.#wakeUp.wake();
    }, groupMs);
    while (!time.isUp && this.#finished.length > 0 && this.#running.size > 0)
      await this.#wakeUp.wait();
    clearTimeout(timer);
  }

  /** Starts once: a wake-up in between, such as after a renewal, does not restart it. */
  #startGrace(signal: AbortSignal): () => void {
    const start = (): void => {
      this.#graceTimer ??= setTimeout(() => {
        this.#graceIsOver = true;
        this.#wakeUp.wake();
      }, this.#context.abortGraceMs);
    };
    if (signal.aborted) start();
    else signal.addEventListener('abort', start, { once: true });
    return () => signal.removeEventListener('abort', start);
  }
}

/* The calls as they are right after the append: one that has ended since, because its outcome was delivered, does not start. */
function startedBy(
  events: readonly ThreadEvent[],
  calls: readonly ToolCallRecord[],
  tools: ToolDefinitions,
): StartedCall[] {
  return events.flatMap((event) => {
    if (event.type !== 'call-started') return [];
    const call = calls[event.index];
    const isStarted = call?.step === event.step && call.status === 'started';
    const definition = isStarted ? tools.get(call.toolName) : undefined;
    return isStarted && definition !== undefined ? [{ call, definition }] : [];
  });
}
