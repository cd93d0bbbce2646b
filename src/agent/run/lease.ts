import type { RunCause } from '../../policy/run-context.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isModelDue, isStoppedBeforeReply, needsRun } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { AgentContext } from './agent-context.ts';
import { makeFaultEvents, makeStoppedEvents } from './run-end.ts';
import type { PartialStep } from './take-step.ts';

/* The interval at which a run polls for events of other processes, in milliseconds. */
const watchMs = 1_000;

/** Another run took over the thread, because our lease had expired. */
export class LeaseLost extends Error {}

/**
 * One run's lease on a thread: no other run starts until it expires, and it is renewed while the run lives. All of the run's appends go
 * through it, so that a run whose thread was taken over appends nothing more. See ADR 4.
 */
export class Lease {
  readonly #context: AgentContext;
  readonly #log: ThreadLog;
  readonly #by: RunCause['by'];
  #runId: string;
  #wasAcquired = false;
  /** True if the run holds the thread: it took it, has not ended, and has not found it taken over. */
  isHeld = false;

  constructor(context: AgentContext, log: ThreadLog, { by }: RunCause) {
    this.#context = context;
    this.#log = log;
    this.#by = by;
    this.#runId = context.generateId();
  }

  /** True if another run has begun since this one did. */
  get isTakenOver(): boolean {
    return this.#wasAcquired && findLatestRun(this.#log.state) !== this.#runId;
  }

  /** True if the lease has expired: nothing may start until a commit has renewed it. */
  get hasExpired(): boolean {
    const { run } = this.#log.state.head;
    return run?.runId !== this.#runId || this.#context.now() >= run.leaseUntil;
  }

  /** True if a person asked this run to stop. */
  get isStopping(): boolean {
    return this.#holds(this.#log.state) && this.#log.state.head.run?.isStopping === true;
  }

  /**
   * Appends the proposal of `decide`, and takes the thread if it returns the calls that the run starts with. With `resumeStopped`, a turn
   * that was stopped before its reply is resumed in the same append.
   */
  acquire(
    decide: (proposal: Proposal) => readonly ThreadEvent[] | undefined,
    { resumeStopped = false } = {},
  ): Promise<readonly ThreadEvent[]> {
    const before = this.#wasAcquired ? this.#runId : undefined;
    /* To the log, a run that takes its thread again is another run: it may restart the calls that it had started. */
    if (before !== undefined) this.#runId = this.#context.generateId();
    return this.#log.commit((proposal) => {
      const isTakenOver = before !== undefined && findLatestRun(proposal.state) !== before;
      const begun = isTakenOver ? undefined : decide(proposal);
      this.#wasAcquired = begun !== undefined;
      this.isHeld = this.#wasAcquired;
      if (begun === undefined) return;
      const isResumed = resumeStopped && isStoppedBeforeReply(proposal.head);
      proposal.add(this.#event('run-started', isResumed), ...begun);
      this.isHeld = !this.#endWhenDone(proposal);
    });
  }

  /**
   * Appends the events of `make` for the newest state, and the run's end when nothing is left to do. Throws `LeaseLost` when another run
   * has taken over the thread; then only facts are appended (`evenWhenLost`). After a stop request, too, only facts are appended: check
   * `isStopping` afterwards.
   */
  commit(
    make: (proposal: Proposal) => readonly ThreadEvent[],
    { evenWhenLost = false } = {},
  ): Promise<readonly ThreadEvent[]> {
    let isLost = false;
    let isOver = false;
    const decide = (proposal: Proposal): void => {
      isOver = false;
      isLost = !this.#holds(proposal.state);
      const mayDecide = !isLost && proposal.state.head.run?.isStopping !== true;
      if (!mayDecide && !evenWhenLost) return;
      if (!isLost && this.hasExpired) proposal.add(this.#event('run-renewed'));
      proposal.add(...make(proposal));
      isOver = !isLost && this.#endWhenDone(proposal);
    };
    return this.#log.commit(decide, { isFact: evenWhenLost }).then((events) => {
      if (isLost || isOver) this.isHeld = false;
      if (isLost) throw new LeaseLost();
      return events;
    });
  }

  /** Renews the lease until the returned function is called. `onNews` is called when others may have appended. */
  keepRenewed(onNews: () => void): () => void {
    const { leaseMs, events } = this.#context;
    const renew = async (): Promise<void> => {
      await this.#log.commit((proposal) => {
        if (this.#holds(proposal.state)) proposal.add(this.#event('run-renewed'));
      });
      onNews();
    };
    /* Polls for events of other processes: an answer, or a stop request. */
    const watch = async (): Promise<void> => {
      const { revision } = this.#log;
      await this.#log.pull();
      if (this.#log.revision > revision) onNews();
    };
    const pull = (): void => void this.#log.pull().then(onNews, () => {});
    const timers = [setInterval(repeat(renew), leaseMs / 3), setInterval(repeat(watch), watchMs)];
    const unwatch = events.watch(this.#log.state.threadId, pull);
    return () => {
      timers.forEach(clearInterval);
      unwatch();
    };
  }

  /** Releases the thread after a failure, an abort, or a stop; `partial` is the text that the model had streamed. */
  async release(
    error: string,
    isAborted: boolean,
    partial: PartialStep | undefined,
  ): Promise<readonly ThreadEvent[]> {
    try {
      return await this.#log.commit((proposal) => {
        const { state } = proposal;
        if (!this.#holds(state)) return;
        const at = this.#context.now();
        const fault = { error, isAborted, at, recoverAt: at + this.#context.leaseMs };
        if (
          state.head.run?.isStopping === true &&
          partial !== undefined &&
          isModelDue(state.head)
        ) {
          const { steps: step } = state.head;
          const finishReason = 'interrupted';
          proposal.add({ type: 'step-finished', at, step, finishReason, ...partial });
        }
        proposal.add(...makeFaultEvents(this.#context, state, fault));
      });
    } catch {
      /* The store is unavailable, and the run fails for its own reason; its lease will expire. */
      return [];
    }
  }

  /** Adds the run's end when nothing is left to do. Returns whether the run has ended. */
  #endWhenDone(proposal: Proposal): boolean {
    const { head } = proposal;
    if (head.run === undefined) return true;
    const isBusy = head.calls.some(({ status }) => status === 'started');
    if (isBusy || needsRun(head, this.#context.now())) return false;
    const at = this.#context.now();
    const stopped = { events: proposal.state.events, head };
    const ending: ThreadEvent[] =
      head.run.isStopping === true
        ? makeStoppedEvents(this.#context, stopped, at)
        : [{ type: 'run-ended', at }];
    proposal.add(...ending);
    return true;
  }

  /** Checks whether this run holds the thread. */
  #holds(state: Readonly<ThreadState>): boolean {
    return state.head.run?.runId === this.#runId;
  }

  #event(type: 'run-started' | 'run-renewed', resumesStopped = false): ThreadEvent {
    const at = this.#context.now();
    const held = { at, runId: this.#runId, leaseUntil: at + this.#context.leaseMs };
    if (type === 'run-renewed') return { type, ...held };
    return { type, ...held, ...(resumesStopped ? { resumesStopped } : {}), ...this.#by };
  }
}

/**
 * Begins the work at each call, but not while it is busy: a store that stalls would get all of it at once when it recovers. A failure is
 * retried in time: two renewals may fail before the lease expires.
 */
function repeat(work: () => Promise<void>): () => void {
  let isBusy = false;
  const end = (): void => {
    isBusy = false;
  };
  return () => {
    if (isBusy) return;
    isBusy = true;
    work().then(end, end);
  };
}

/** The id of the latest run. */
function findLatestRun({ events }: Readonly<ThreadState>): string | undefined {
  return events.findLast((event) => event.type === 'run-started')?.runId;
}
