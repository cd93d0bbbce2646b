import type { AssistantModelMessage } from 'ai';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isModelDue, needsRun, type ThreadState } from '../../thread/thread-state.ts';
import type { AgentContext } from './agent-context.ts';
import { faultEvents, stopEvents } from './lost-calls.ts';

/* How often a run looks for what other processes appended to its thread, in milliseconds. */
const watchMs = 1_000;

/** Another run took the thread over, as our lease had run out. */
export class LeaseLost extends Error {}

/**
 * One run's hold on a thread: nobody else runs it until the lease is over, and it is renewed while the run lives. What the run
 * appends goes through here, so that a run whose thread was taken over appends no more.
 */
export class Lease {
  readonly #context: AgentContext;
  readonly #log: ThreadLog;
  #runId: string;
  #isHeld = false;
  #wasTaken = false;

  constructor(context: AgentContext, log: ThreadLog) {
    this.#context = context;
    this.#log = log;
    this.#runId = context.generateId();
  }

  /** Whether the run has the thread: it took it, has not ended, and has not found it taken over. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Whether another run has begun since this one did. */
  get isTakenOver(): boolean {
    return this.#wasTaken && latestRun(this.#log.state) !== this.#runId;
  }

  /** Whether the lease has run out, by the time of now: nothing may be started then, until a commit has renewed it. */
  get isOver(): boolean {
    const { run } = this.#log.state.head;
    return run?.runId !== this.#runId || this.#context.now() >= run.leaseUntil;
  }

  /** Whether somebody wants this run to end. */
  get isStopping(): boolean {
    return this.#holds(this.#log.state) && this.#log.state.head.run?.isStopping === true;
  }

  /** Appends what `decide` proposes, and takes the thread where it gives back what the run begins with. */
  async take(
    decide: (proposal: Proposal) => readonly ThreadEvent[] | undefined,
  ): Promise<readonly ThreadEvent[]> {
    const before = this.#wasTaken ? this.#runId : undefined;
    /* A run that takes a thread again is another run to the log: it may start again what it had started. */
    if (before !== undefined) this.#runId = this.#context.generateId();
    return this.#append((proposal) => {
      const isTakenOver = before !== undefined && latestRun(proposal.state) !== before;
      const begun = isTakenOver ? undefined : decide(proposal);
      this.#isHeld = begun !== undefined;
      this.#wasTaken = this.#isHeld;
      if (begun === undefined) return;
      proposal.add(this.#event('run-started'), ...begun);
      this.#endWhenDone(proposal);
    });
  }

  /**
   * Appends what the run makes of the newest state, with its end when nothing is left to do. Throws `LeaseLost` when another
   * run has taken the thread over; nothing is appended then, but for facts, which are recorded `evenWhenLost`. Nor is anything but
   * facts where somebody wants the run to end: `isStopping` says so afterwards.
   */
  async commit(
    make: (proposal: Proposal) => readonly ThreadEvent[],
    { evenWhenLost = false } = {},
  ): Promise<readonly ThreadEvent[]> {
    let lost = false;
    const decide = (proposal: Proposal): void => {
      lost = !this.#holds(proposal.state);
      const mayDecide = !lost && proposal.state.head.run?.isStopping !== true;
      if (!mayDecide && !evenWhenLost) return;
      if (!lost && this.isOver) proposal.add(this.#event('run-renewed'));
      proposal.add(...make(proposal));
      if (!lost) this.#endWhenDone(proposal);
    };
    const events = await this.#append(decide, evenWhenLost);
    if (!lost) return events;
    this.#isHeld = false;
    throw new LeaseLost();
  }

  /** The event that gives the thread back. */
  ended(): ThreadEvent {
    return { type: 'run-ended', at: this.#context.now() };
  }

  /** Renews until the returned function is called. `onNews` is told when others may have appended, too. */
  keep(onNews: () => void): () => void {
    const { leaseMs, events } = this.#context;
    let renewing: Promise<void> | undefined;
    const renew = async (): Promise<void> => {
      try {
        await this.#log.commit((proposal) => {
          if (this.#holds(proposal.state)) proposal.add(this.#event('run-renewed'));
        });
        onNews();
      } catch {
        /* A renewal that fails is tried again in time; two may fail before the lease is over. */
      }
      renewing = undefined;
    };
    /* One at a time: a store that stalls would get all of them at once when it goes on. */
    const timer = setInterval(() => {
      renewing ??= renew();
    }, leaseMs / 3);
    let watching: Promise<void> | undefined;
    const watch = setInterval(() => {
      watching ??= this.#watch(onNews).finally(() => {
        watching = undefined;
      });
    }, watchMs);
    const onAppended = async ({ threadId }: { threadId: string }): Promise<void> => {
      if (threadId !== this.#log.state.threadId) return;
      await this.#log.pull();
      onNews();
    };
    const unsubscribe = [
      events.on('request-answered', onAppended),
      events.on('stop-requested', onAppended),
    ];
    return () => {
      clearInterval(timer);
      clearInterval(watch);
      for (const end of unsubscribe) end();
    };
  }

  /** Looks for what other processes appended: an answer, or the wish that the run ends. */
  async #watch(onNews: () => void): Promise<void> {
    const { revision } = this.#log;
    /* A failure is as good as no news. */
    await this.#log.pull().catch(() => {});
    if (this.#log.revision > revision) onNews();
  }

  /** Gives the thread back after a failure, an abort, or a stop; `said` is what the model had said by then. */
  async letGo(
    error: string,
    isAborted: boolean,
    said: AssistantModelMessage | undefined,
  ): Promise<readonly ThreadEvent[]> {
    try {
      return await this.#log.commit((proposal) => {
        const { state } = proposal;
        if (!this.#holds(state)) return;
        const at = this.#context.now();
        const fault = { error, isAborted, at, recoverAt: at + this.#context.leaseMs };
        if (state.head.run?.isStopping === true && said !== undefined && isModelDue(state.head)) {
          const { steps: step } = state.head;
          const finishReason = 'interrupted';
          proposal.add({ type: 'step-finished', at, step, message: said, finishReason });
        }
        proposal.add(...faultEvents(this.#context, state, fault));
      });
    } catch {
      /* The store is out of reach, and the run fails for its own reason; the lease runs out by itself. */
      return [];
    }
  }

  async #append(
    decide: (proposal: Proposal) => void,
    isFact = false,
  ): Promise<readonly ThreadEvent[]> {
    const log = this.#log;
    const events = await (isFact ? log.commitFact(decide) : log.commit(decide));
    if (events.some(({ type }) => type === 'run-ended')) this.#isHeld = false;
    return events;
  }

  #endWhenDone(proposal: Proposal): void {
    const { head } = proposal;
    const busy = head.calls.some(({ status }) => status === 'started');
    if (head.run === undefined || busy || needsRun(head)) return;
    const isStopping = head.run.isStopping === true;
    proposal.add(...(isStopping ? stopEvents(head, this.#context.now()) : [this.ended()]));
  }

  /** Whether the thread is ours in this state. */
  #holds(state: Readonly<ThreadState>): boolean {
    return state.head.run?.runId === this.#runId;
  }

  #event(type: 'run-started' | 'run-renewed'): ThreadEvent {
    const at = this.#context.now();
    return { type, at, runId: this.#runId, leaseUntil: at + this.#context.leaseMs };
  }
}

/** The id of the run that has begun last. */
function latestRun({ events }: Readonly<ThreadState>): string | undefined {
  return events.findLast((event) => event.type === 'run-started')?.runId;
}
