import { callGuarded } from '../../content/app-errors.ts';
import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { WakeUp } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { CausedRun } from '../../policy/run-context.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { findAwaitedCall, isSamePlace } from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { traceCall } from '../../thread/tracing.ts';
import { endEvents } from '../calls/close-requests.ts';
import { readFirstMessages } from '../calls/decide-calls.ts';
import {
  describeOrigin,
  executeCall,
  reportUnrun,
  type PreliminaryResult,
} from '../calls/execute-call.ts';
import type { Execution, Reporting } from '../calls/delegation.ts';
import type { ToolDefinition, ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AgentContext } from './agent-context.ts';
import { makeDelegatedWork } from './delegated-work.ts';
import { type Lease, LeaseLost } from './lease.ts';
import { makeLostEvent } from './lost-calls.ts';
import { startLimit } from './time-limits.ts';

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

/** An attempt of a call that was executed here. */
export interface Attempt extends CallPlace {
  attempt: number;
}

/** An attempt that has finished, and its result. */
export interface Finished {
  attempt: Attempt;
  execution: Execution;
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
    const started: StartedCall[] = [];
    for (const event of events) {
      if (event.type !== 'call-started') continue;
      const call = log.state.head.calls[event.index];
      /* One that has ended since the append, because its outcome was delivered, does not start. */
      if (call?.step !== event.step || call.status !== 'started') continue;
      const definition = tools.get(call.toolName);
      if (definition !== undefined) started.push({ call, definition });
    }
    if (started.length === 0) return;
    /* The fence: the append may have taken so long that other processes have recorded the calls as lost, and settled or restarted them. */
    const isTooLate = lease.hasExpired;
    if (isTooLate) await log.pull();
    const { signal } = this.#setting;
    const messages = readFirstMessages(log.state, log.state.messages.length - 1);
    for (const each of started) {
      const { step, index, attempts } = each.call;
      const attempt = { step, index, attempt: attempts };
      this.#running.add(attempt);
      const limitMs = this.#context.limits.tool?.(each.call.toolName);
      let executing: Promise<Execution>;
      if (isTooLate) executing = reportUnrun(each.definition);
      else if (limitMs === undefined)
        executing = this.#execute(each, attempt, { signal, messages });
      else executing = this.#executeInTime(limitMs, each, attempt, messages);
      void executing.then((execution) => this.#finish({ attempt, execution }));
    }
  }

  /** The results since the last `take`. A call that has already ended in another way is no longer waited for: its tool may never return. */
  take(): Finished[] {
    const { head } = this.#setting.log.state;
    for (const attempt of this.#running) {
      if (findAwaitedCall(head, attempt) === undefined) this.#running.delete(attempt);
    }
    const taken = this.#finished;
    this.#finished = [];
    return taken;
  }

  /** Waits for a result, for `wake`, or for the end of the grace time that begins when the run's signal aborts. */
  async wait(): Promise<void> {
    if (this.#finished.length > 0) return;
    const { signal } = this.#setting;
    if (signal.aborted) this.#startGrace();
    else signal.addEventListener('abort', this.#startGrace, { once: true });
    await this.#wakeUp.wait();
    signal.removeEventListener('abort', this.#startGrace);
    if (this.#finished.length > 0 && this.#running.size > 0) await this.#gather();
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
    const { log } = this.#setting;
    const recording = recordFinished(this.#context, log, [finished], async (make) =>
      log.commit((proposal) => proposal.add(...make(proposal)), { isFact: true }),
    );
    /* The app has got the result. */
    recording.catch(() => {});
  }

  /** Executes a call for as long as its tool may take. The outcome of one that ignores its time limit is unknown. */
  async #executeInTime(
    limitMs: number,
    started: StartedCall,
    attempt: Attempt,
    messages: ReturnType<typeof readFirstMessages>,
  ): Promise<Execution> {
    const { abortGraceMs: graceMs } = this.#context;
    const { signal } = this.#setting;
    const onIgnored = (): void => this.#giveUp(attempt);
    const limit = startLimit(limitMs, `Tool '${started.call.toolName}'`, { graceMs, onIgnored });
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
    { signal, messages }: { signal: AbortSignal; messages: ReturnType<typeof readFirstMessages> },
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
      const work = makeDelegatedWork(this.#context, this.#setting, { call, signal, report });
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
  readonly #startGrace = (): void => {
    this.#graceTimer ??= setTimeout(() => {
      this.#graceIsOver = true;
      this.#wakeUp.wake();
    }, this.#context.abortGraceMs);
  };
}

/**
 * Records results through `commit`, and retries if the store fails. Throws `LeaseLost` when another run has the thread; after any other
 * failure the app gets the results in `onUnrecorded`.
 */
export async function recordFinished(
  context: AgentContext,
  log: ThreadLog,
  finished: readonly Finished[],
  commit: (make: (proposal: Proposal) => ThreadEvent[]) => Promise<unknown>,
): Promise<void> {
  const make = (proposal: Proposal): ThreadEvent[] => makeResultEvents(context, proposal, finished);
  try {
    await withRetries(async () => commit(make));
  } catch (error) {
    if (!(error instanceof LeaseLost)) passUnrecorded(context, log, finished, error);
    throw error;
  }
}

/** The events that record results. A result of a call that has ended in another way, or was started again, is kept as a late one. */
function makeResultEvents(
  context: AgentContext,
  proposal: Proposal,
  finished: readonly Finished[],
): ThreadEvent[] {
  const { head } = proposal;
  const at = context.now();
  return finished.flatMap(({ attempt, execution }): ThreadEvent[] => {
    const { step, index } = attempt;
    const call = findAwaitedCall(head, attempt);
    if (call === undefined) return makeLateEvents(proposal, { attempt, execution }, at);
    if (execution.type === 'ended') {
      const { outcome, requests } = execution;
      const past = requests?.(proposal, at) ?? [];
      const ended = { type: 'call-ended', at, step, index, outcome } as const;
      return [...past, ...endEvents(head, ended, { before: past })];
    }
    if (execution.type === 'lost') {
      if (call.status !== 'started') return [];
      const { error } = execution;
      const lost = makeLostEvent(context, call, at, at + context.leaseMs);
      return [error === undefined ? lost : { ...lost, error }];
    }
    if (call.status === 'deferred') return [];
    if (execution.type === 'delegated') return execution.events(proposal, at);
    const { expiresAfterMs } = execution;
    const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs };
    return [{ type: 'call-deferred', at, step, index, ...expiry }];
  });
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

/* Milliseconds before each retry; together well under a lease. */
const pauses = [50, 200, 1_000, 5_000];

/** Retries a write after growing pauses. Throws the last error, or at once one that a retry can't change. */
async function withRetries<RESULT>(write: () => Promise<RESULT>): Promise<RESULT> {
  for (const pause of pauses) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof LeaseLost || HoldpointError.isInstance(error)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }
  return write();
}
