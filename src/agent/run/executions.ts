import type { ModelMessage } from 'ai';
import { callGuarded, readErrorText } from '../../content/app-errors.ts';
import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { WakeUp } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { CausedRun } from '../../policy/run-context.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { findAwaitedCall, isSamePlace, type ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isTraced, traceCall } from '../../thread/tracing.ts';
import { endEvents } from '../calls/close-requests.ts';
import { readFirstMessages } from '../calls/decide-calls.ts';
import {
  executeCall,
  makeFailedExecution,
  makeUnrunExecution,
  type PreliminaryResult,
} from '../calls/execute-call.ts';
import type { Execution, Reporting } from '../calls/delegation.ts';
import type { MadeInputs } from '../calls/made-input.ts';
import { restoreForm } from '../../json/json-form.ts';
import type { ToolDefinition, ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AgentContext } from './agent-context.ts';
import { makeDelegatedWork } from './delegated-work.ts';
import { type Lease, LeaseLost } from './lease.ts';
import { makeLostEvents } from './lost-calls.ts';
import { startLimit } from './time-limits.ts';

/** The settings of `Executions`. */
interface ExecutionSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  lease: Lease;
  /** The inputs that schemas have just made for the calls that start. */
  made: MadeInputs;
  /** Aborts when the run ends early. */
  signal: AbortSignal;
  /** Checks whether a person stopped the run, and not the app or a time limit. */
  isStopped: () => boolean;
  run: CausedRun;
  onPreliminary: ((result: PreliminaryResult) => void) | undefined;
}

/** An attempt of a call that was executed here. */
interface Attempt extends CallPlace {
  attempt: number;
}

interface StartedCall {
  call: ToolCallRecord;
  definition: ToolDefinition;
  attempt: Attempt;
}

/** An attempt that has finished, and its result. */
interface Finished {
  attempt: Attempt;
  execution: Execution;
}

/* Milliseconds before each retry of a record; together well under a lease. */
const pauses = [50, 200, 1_000, 5_000];
/* Results that come this close together, in milliseconds, are recorded in one append. */
const groupMs = 10;

/** The calls that one run is executing, and their results until they are recorded. */
export class Executions {
  readonly #context: AgentContext;
  readonly #setting: ExecutionSetting;
  readonly #wakeUp = new WakeUp();
  readonly #running = new Set<Attempt>();
  #finished = new Map<Attempt, Finished>();
  #isLeft = false;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #graceIsOver = false;

  constructor(context: AgentContext, setting: ExecutionSetting) {
    this.#context = context;
    this.#setting = setting;
  }

  /** True if a call is running, or has a result that `take` has not returned yet. */
  get pending(): boolean {
    return this.#running.size > 0 || this.#finished.size > 0;
  }

  /** True if no call is running, or the time that tools have after an abort is over. */
  get mayEnd(): boolean {
    return this.#running.size === 0 || this.#graceIsOver;
  }

  /** Right after an append: starts the calls that it records as started, unless the lease has expired. */
  start(events: readonly ThreadEvent[]): Promise<void> | undefined {
    const { log, tools, lease } = this.#setting;
    const started: StartedCall[] = [];
    for (const event of events) {
      if (event.type !== 'call-started') continue;
      const call = log.state.head.calls[event.index];
      /* One that has ended since the append, because its outcome was delivered, does not start. */
      if (call?.step !== event.step || call.status !== 'started') continue;
      const definition = tools.get(call.toolName);
      if (definition === undefined) continue;
      const { step, index, attempts } = call;
      started.push({ call, definition, attempt: { step, index, attempt: attempts } });
    }
    if (started.length === 0) return undefined;
    /* The fence: the append may have taken so long that other processes have recorded the calls as lost, and settled or restarted them. */
    if (lease.hasExpired) return this.#reportUnrun(started);
    const messages = readFirstMessages(log.state, log.state.messages.length - 1);
    for (const each of started) void this.#perform(each, messages);
    return undefined;
  }

  /** Reports that calls whose start was recorded too late were not run. */
  async #reportUnrun(started: readonly StartedCall[]): Promise<void> {
    await this.#setting.log.pull();
    for (const { attempt, definition } of started)
      this.#push({ attempt, execution: makeUnrunExecution(definition) });
  }

  /** Executes a call, and keeps its result for `take`. */
  async #perform(started: StartedCall, messages: () => readonly ModelMessage[]): Promise<void> {
    const { attempt, call } = started;
    this.#running.add(attempt);
    const limitMs = this.#context.limits.tool?.(call.toolName);
    const execution =
      limitMs === undefined
        ? await this.#execute(started, { signal: this.#setting.signal, messages })
        : await this.#executeInTime(limitMs, started, messages);
    const isAwaited = this.#running.delete(attempt);
    if (isAwaited && !this.#isLeft) this.#push({ attempt, execution });
    else this.#recordLate({ attempt, execution });
  }

  /**
   * Takes the results since the last `take`. A call that has already ended in another way is no longer awaited: its tool may never return.
   */
  take(): Finished[] {
    const { head } = this.#setting.log.state;
    for (const attempt of this.#running) {
      if (findAwaitedCall(head, attempt) === undefined) this.#running.delete(attempt);
    }
    const taken = [...this.#finished.values()];
    this.#finished.clear();
    return taken;
  }

  /** Waits for a result, for `wake`, or for the end of the grace time that begins when the run's signal aborts. */
  async wait(): Promise<void> {
    if (this.#finished.size > 0) return;
    const { signal } = this.#setting;
    if (signal.aborted) this.#startGrace();
    else signal.addEventListener('abort', this.#startGrace, { once: true });
    await this.#wakeUp.wait();
    signal.removeEventListener('abort', this.#startGrace);
    if (this.#finished.size > 0 && this.#running.size > 0) await this.#gather();
  }

  /** Ends a wait: something has changed elsewhere. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /** Ends the run's part: results that come later, or that `take` has not returned, are recorded as late ones. */
  leave(): void {
    this.#isLeft = true;
    clearTimeout(this.#graceTimer);
    for (const finished of this.take()) this.#recordLate(finished);
  }

  /** New knowledge about an attempt replaces the old. */
  #push(finished: Finished): void {
    this.#finished.delete(finished.attempt);
    this.#finished.set(finished.attempt, finished);
    this.#wakeUp.wake();
  }

  #recordLate(finished: Finished): void {
    /* The app has got the result. */
    this.record([finished], { isLate: true }).catch(() => {});
  }

  /**
   * Records results, which are facts: even if the lease was lost meanwhile, then throwing `LeaseLost`. Late ones need no lease. Retries if
   * the store fails; after any other failure the app gets the results in `onUnrecorded`.
   */
  async record(
    finished: readonly Finished[],
    { isLate = false } = {},
  ): Promise<readonly ThreadEvent[]> {
    const { log, lease } = this.#setting;
    const make = (proposal: Proposal): ThreadEvent[] => {
      const { head } = proposal;
      const at = this.#context.now();
      const events: ThreadEvent[] = [];
      for (const each of finished)
        events.push(...makeResultEvents(this.#context, { proposal, head, at }, each));
      return events;
    };
    for (let retries = 0; ; retries += 1) {
      try {
        if (!isLate) return await lease.commit(make, { evenWhenLost: true });
        return await log.commit((proposal) => proposal.add(...make(proposal)), { isFact: true });
      } catch (error) {
        if (error instanceof LeaseLost) throw error;
        const pause = pauses[retries];
        if (pause === undefined || HoldpointError.isInstance(error)) {
          passUnrecorded(this.#context, log, finished, error);
          throw error;
        }
        await new Promise((resolve) => {
          setTimeout(resolve, pause);
        });
      }
    }
  }

  /** Executes a call for as long as its tool may take. The outcome of one that ignores its time limit is unknown. */
  async #executeInTime(
    limitMs: number,
    started: StartedCall,
    messages: () => readonly ModelMessage[],
  ): Promise<Execution> {
    const { abortGraceMs: graceMs } = this.#context;
    const { signal } = this.#setting;
    const onIgnored = (): void => this.#giveUp(started.attempt);
    const limit = startLimit(limitMs, `Tool '${started.call.toolName}'`, { graceMs, onIgnored });
    /* After an abort only the run's own grace time applies, and this timer must not keep the process alive. */
    signal.addEventListener('abort', limit.end, { once: true });
    try {
      const both = AbortSignal.any([signal, limit.signal]);
      return await this.#execute(started, { signal: both, messages });
    } finally {
      signal.removeEventListener('abort', limit.end);
      limit.end();
    }
  }

  #execute(
    { call, definition, attempt }: StartedCall,
    { signal, messages }: { signal: AbortSignal; messages: () => readonly ModelMessage[] },
  ): Promise<Execution> {
    const { onPreliminary, made } = this.#setting;
    const { state } = this.#setting.log;
    const { delegation, tool } = definition;
    if (delegation === undefined) {
      const { principalId } = this.#context;
      const takeInput = (): unknown => made.take(call);
      const options = { state, principalId, takeInput, messages, signal, onPreliminary };
      return executeCall(definition, call, options);
    }
    const report = (events: Reporting): void => {
      if (this.#running.has(attempt))
        this.#push({ attempt, execution: { type: 'delegated', events } });
    };
    const work = makeDelegatedWork(this.#context, this.#setting, { call, signal, report });
    const begin = async (): Promise<Execution> => {
      let input: unknown;
      try {
        input = call.attempts > 1 ? restoreInput(call) : made.take(call);
      } catch (error) {
        return makeFailedExecution(readErrorText(error));
      }
      return delegation.work(tool, call, { ...work, input });
    };
    return isTraced() ? traceCall(state, { call, description: tool.description }, begin) : begin();
  }

  /** Stops waiting for a call that ignores its time limit: its later result is a late one. */
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
    while (!time.isUp && this.#finished.size > 0 && this.#running.size > 0)
      await this.#wakeUp.wait();
    clearTimeout(timer);
  }

  /** Starts once: a wake-up in between, such as after a renewal, does not restart it. */
  readonly #startGrace = (): void => {
    this.#graceTimer ??= setTimeout(() => {
      this.#graceIsOver = true;
      this.#wakeUp.wake();
    }, this.#context.abortGraceMs);
  };
}

/** The input of a delegated call that continues: the one that its sub-agent already has. */
function restoreInput({ input: json, inputTypes: types }: ToolCallRecord): unknown {
  return restoreForm({ json, types });
}

/** Makes the events that record a result. If the call has ended in another way, or was started again, it is recorded as a late result. */
function makeResultEvents(
  context: AgentContext,
  { proposal, head, at }: { proposal: Proposal; head: ThreadHead; at: number },
  { attempt, execution }: Finished,
): ThreadEvent[] {
  const { step, index } = attempt;
  const call = findAwaitedCall(head, attempt);
  if (call === undefined) return makeLateEvents(proposal, { attempt, execution }, at);
  if (execution.type === 'ended') {
    const { outcome, requests } = execution;
    const past = requests?.(proposal, at) ?? [];
    const ended = { type: 'call-ended', at, step, index, outcome } as const;
    if (head.openRequests.length === 0) return [...past, ended];
    return [...past, ...endEvents(head, ended, { before: past })];
  }
  if (execution.type === 'lost') {
    if (call.status !== 'started') return [];
    const { error } = execution;
    return makeLostEvents(context, { head, call }, { at, recoverAt: at + context.leaseMs, error });
  }
  if (call.status === 'deferred') return [];
  if (execution.type === 'delegated') return execution.events(proposal, at);
  const { expiresAfterMs } = execution;
  const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs };
  return [{ type: 'call-deferred', at, step, index, ...expiry }];
}

/* An outcome that was delivered and is then returned too has already been recorded. */
function makeLateEvents(
  { state, head }: Proposal,
  { attempt: { attempt, ...place }, execution }: Finished,
  at: number,
): ThreadEvent[] {
  const calls = [...head.calls, ...head.newlyPast.calls, ...state.pastCalls];
  const call = calls.find((each) => isSamePlace(each, place));
  if (call === undefined || execution.type !== 'ended') return [];
  const { outcome } = execution;
  if (call.attempts === attempt && call.outcome !== undefined && isEqualJson(call.outcome, outcome))
    return [];
  return [{ type: 'late-result', at, ...place, attempt, outcome }];
}

/** Passes results that the store does not accept to the app. */
function passUnrecorded(
  { onUnrecorded }: AgentContext,
  { state }: ThreadLog,
  finished: readonly Finished[],
  error: unknown,
): void {
  for (const { attempt, execution } of finished) {
    const call = findAwaitedCall(state.head, attempt);
    if (call === undefined || execution.type !== 'ended') continue;
    const unrecorded = { threadId: state.threadId, call, outcome: execution.outcome, error };
    void callGuarded(onUnrecorded, unrecorded);
  }
}
