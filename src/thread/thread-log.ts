import { HoldpointError } from '../errors.ts';
import { adopt, applyEvents } from './apply-event.ts';
import { chain, verifyChain } from './chain.ts';
import { refuseUnreadable } from './event-text.ts';
import { Proposal } from './proposal.ts';
import type { NewThreadEvent, ThreadEvent } from './thread-event.ts';
import {
  emptyThread,
  owesRun,
  statusOf,
  type ThreadHead,
  type ThreadState,
} from './thread-state.ts';
import type { ThreadStore, ThreadSummary } from './thread-store.ts';
import { traceAppend } from './tracing.ts';

/** What a log needs of the world. */
export interface ThreadLogOptions {
  store: ThreadStore;
  now: () => number;
  /** Called after the events are durable and applied. */
  onAppended: (threadId: string, events: readonly ThreadEvent[]) => void;
  /** Called likewise after a commit, and not for a thread that is written whole: these events happen now. */
  onCommitted?: (state: Readonly<ThreadState>, events: readonly ThreadEvent[]) => void;
}

/**
 * A thread as one process sees it: the state, brought up to date from the store, and the only way to append.
 * What to append is decided anew from the newest state until nobody was faster.
 */
export class ThreadLog {
  readonly state: ThreadState;
  readonly #options: ThreadLogOptions;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(threadId: string, options: ThreadLogOptions) {
    this.state = emptyThread(threadId);
    this.#options = options;
  }

  get revision(): number {
    return this.state.events.length;
  }

  /** Reads the thread for the first time. Throws `log-tampered` when its end is missing. */
  async open(): Promise<void> {
    await this.#alone(async () => {
      await this.#readOn();
      await this.#refuseLoss();
    });
  }

  /** Reads what others appended. */
  async pull(): Promise<void> {
    await this.#alone(() => this.#readOn());
  }

  /**
   * Appends what `decide` proposes for the newest state, and gives its events back once they are durable. `decide` is
   * asked again when somebody else appended first. When it throws, or proposes nothing, nothing is written.
   */
  async commit(decide: (proposal: Proposal) => void): Promise<readonly ThreadEvent[]> {
    return this.#alone(async () => {
      for (;;) {
        const proposal = new Proposal(this.state);
        decide(proposal);
        if (proposal.events.length === 0) return [];
        const { head } = proposal;
        const events = await traceAppend(proposal, (proposed) => this.#append(proposed, head));
        if (events !== undefined) return events;
        await this.#readOn();
        await this.#refuseLoss();
      }
    });
  }

  /** Writes the whole of a verified thread that the store does not have. Where this fails, the log is of no more use. */
  async write(events: ThreadEvent[]): Promise<void> {
    await this.#alone(async () => {
      const { store, onAppended } = this.#options;
      const { threadId } = this.state;
      /* Applied first: a log that does not fold must not reach the store. */
      applyEvents(this.state, events);
      await store.append(threadId, 0, events, this.#summary(this.state.head, events.length));
      onAppended(threadId, events);
    });
  }

  /** The events as they are stored; `undefined` when somebody else was faster, and nothing was written. */
  async #append(
    proposed: readonly NewThreadEvent[],
    head: ThreadHead,
  ): Promise<readonly ThreadEvent[] | undefined> {
    const { store, onAppended, onCommitted } = this.#options;
    const { threadId } = this.state;
    const events = await chain(proposed, this.state.events.at(-1)?.hash ?? '');
    refuseUnreadable(events);
    const { revision } = this;
    const summary = this.#summary(head, revision + events.length);
    const write = async (): Promise<void> => store.append(threadId, revision, events, summary);
    try {
      await write();
    } catch (error) {
      if (isConflict(error) || !(await this.#isWritten(events, write, error))) return undefined;
    }
    adopt(this.state, events, head);
    onAppended(threadId, events);
    onCommitted?.(this.state, events);
    return events;
  }

  /**
   * Whether a write that failed has happened, its reply being lost: nothing is done on a guess. It is written again, which waits
   * for the first where that is still under way; one of the two fails then, and what is stored tells whose events these are.
   * Throws the `failure` where it can't be told, or nothing was written.
   */
  async #isWritten(
    events: readonly ThreadEvent[],
    write: () => Promise<void>,
    failure: unknown,
  ): Promise<boolean> {
    const { store } = this.#options;
    try {
      await write();
      return true;
    } catch (error) {
      if (!isConflict(error)) throw failure;
    }
    const read = store.read(this.state.threadId, this.revision);
    const stored = await read.catch(() => {
      throw failure;
    });
    return events.every(({ hash }, index) => stored[index]?.hash === hash);
  }

  async #readOn(): Promise<void> {
    const { state } = this;
    const events = await this.#options.store.read(state.threadId, this.revision);
    await verifyChain(events, state.events);
    applyEvents(state, events);
  }

  /* A chain does not tell that its end was cut off, by an editor or by a backup that was put back; the summary does. */
  async #refuseLoss(): Promise<void> {
    const { threadId } = this.state;
    const { revision = 0 } = (await this.#options.store.head(threadId)) ?? {};
    const isShorter = revision < this.revision;
    if (revision > this.revision) await this.#readOn();
    if (!isShorter && revision <= this.revision) return;
    throw new HoldpointError(
      'log-tampered',
      `The log of thread ${threadId} ends at revision ${this.revision}, and the store says it is at ${revision}.`,
    );
  }

  #summary(head: ThreadHead, revision: number): ThreadSummary {
    return summarize(this.state.threadId, head, revision, this.#options.now());
  }

  /** One at a time, in the order of asking: two runs on one handle must not apply the same events twice. */
  async #alone<RESULT>(work: () => Promise<RESULT>): Promise<RESULT> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

function isConflict(error: unknown): boolean {
  return HoldpointError.isInstance(error) && error.code === 'revision-conflict';
}

/** What a store is told of a thread beside its events. */
function summarize(
  threadId: string,
  head: ThreadHead,
  revision: number,
  now: number,
): ThreadSummary {
  const deferred = head.calls.filter(({ status }) => status === 'deferred');
  const expiring = [...head.openRequests.map(({ request }) => request), ...deferred];
  const deadlines = expiring.flatMap(({ expiresAt }) => expiresAt ?? []);
  if (head.run !== undefined) deadlines.push(head.run.leaseUntil);
  else if (owesRun(head) && !head.isOutOfSteps) deadlines.push(0);
  return {
    threadId,
    status: statusOf(head, now),
    revision,
    openRequests: head.openRequests.length,
    ...(deadlines.length === 0 ? {} : { nextDeadline: Math.min(...deadlines) }),
    updatedAt: now,
  };
}
