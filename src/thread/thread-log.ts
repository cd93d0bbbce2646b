import { HoldpointError } from '../errors.ts';
import { adopt, applyEntry } from './apply/apply-entry.ts';
import { type EntryContent, readEntry, verifyEntry, writeEntry } from './log-entry.ts';
import { Proposal } from './proposal.ts';
import type { ThreadEvent } from './thread-event.ts';
import { emptyThread, lastHash, type ThreadHead, type ThreadState } from './thread-state.ts';
import { summaryOf } from './thread-status.ts';
import type { LogEnd, LogEntry, ThreadStore } from './thread-store.ts';
import { traceAppend } from './tracing/trace-operations.ts';

/** What a log needs of the world. */
export interface ThreadLogOptions {
  store: ThreadStore;
  now: () => number;
  /** The name of the agent whose thread a new one is. */
  agent: string | undefined;
  /** Throws for a thread in which this agent may decide nothing. */
  refuse: (state: Readonly<ThreadState>) => void;
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
    return this.commitFact((proposal) => {
      this.#options.refuse(proposal.state);
      decide(proposal);
    });
  }

  /** The same for facts, which decide nothing: they are recorded even if the thread belongs to another agent now. */
  async commitFact(decide: (proposal: Proposal) => void): Promise<readonly ThreadEvent[]> {
    return this.#alone(async () => {
      for (;;) {
        const proposal = new Proposal(this.state, this.#options.agent);
        decide(proposal);
        if (proposal.events.length === 0) {
          await this.#refuseLoss();
          return [];
        }
        const { head } = proposal;
        const events = await traceAppend(proposal, (proposed) => this.#append(proposed, head));
        if (events !== undefined) return events;
        await this.#readOn();
        await this.#refuseLoss();
      }
    });
  }

  /**
   * Writes the whole of a thread that the store does not have. Where this fails, the log is of no more use.
   */
  async write(entries: readonly LogEntry[]): Promise<void> {
    await this.#alone(async () => {
      /* Applied first: a log that does not fold must not reach the store. */
      const contents = await this.#apply(entries);
      this.#options.refuse(this.state);
      const { threadId } = this.state;
      const summary = summaryOf(threadId, this.state.head, {
        end: this.#end(),
        now: this.#options.now(),
      });
      await this.#options.store.append(threadId, { revision: 0, hash: '' }, entries, summary);
      this.#options.onAppended(
        threadId,
        contents.flatMap(({ events }) => events),
      );
    });
  }

  /** Removes the thread from the store; `check` may refuse it, and is called again when somebody has appended meanwhile. */
  async delete(check: (state: Readonly<ThreadState>) => void): Promise<void> {
    await this.#alone(async () => {
      for (;;) {
        this.#options.refuse(this.state);
        check(this.state);
        try {
          await this.#options.store.delete(this.state.threadId, this.#end());
          return;
        } catch (error) {
          if (!isConflict(error)) throw error;
        }
        await this.#readOn();
        await this.#refuseLoss();
      }
    });
  }

  /** The events as they are stored; `undefined` when somebody else was faster, and nothing was written. */
  async #append(
    proposed: readonly ThreadEvent[],
    head: ThreadHead,
  ): Promise<readonly ThreadEvent[] | undefined> {
    const { store, onAppended, onCommitted } = this.#options;
    const { threadId } = this.state;
    const end = this.#end();
    const entry = await writeEntry(proposed, end);
    const content = readEntry(entry);
    const summary = summaryOf(threadId, head, {
      end: { revision: entry.revision, hash: content.hash },
      now: this.#options.now(),
    });
    const write = async (): Promise<void> => store.append(threadId, end, [entry], summary);
    try {
      await write();
    } catch (error) {
      if (isConflict(error) || !(await this.#isWritten(entry, write, error))) return undefined;
    }
    adopt(this.state, content, head);
    onAppended(threadId, content.events);
    onCommitted?.(this.state, content.events);
    return content.events;
  }

  /**
   * Whether a write that failed has happened, its reply being lost: nothing is done on a guess. It is written again, which waits
   * for the first where that is still under way; one of the two fails then, and what is stored tells whose entry it is.
   * Throws the `failure` where it can't be told, or nothing was written.
   */
  async #isWritten(
    entry: LogEntry,
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
    const [stored] = await read.catch(() => {
      throw failure;
    });
    return stored?.text === entry.text;
  }

  async #readOn(): Promise<void> {
    const entries = await this.#options.store.read(this.state.threadId, this.revision);
    try {
      await this.#apply(entries);
    } catch (error) {
      throw (await this.#isReplaced()) ? this.#deleted() : error;
    }
  }

  /** Verifies entries and writes them into the state. */
  async #apply(entries: readonly LogEntry[]): Promise<EntryContent[]> {
    const contents: EntryContent[] = [];
    for (const entry of entries) {
      const content = await verifyEntry(entry, this.#end());
      applyEntry(this.state, content);
      contents.push(content);
    }
    return contents;
  }

  /** Where the next entry goes. */
  #end(): LogEnd {
    return { revision: this.revision, hash: lastHash(this.state) };
  }

  /* A chain does not tell that its end was cut off, by an editor or by a backup that was put back; the summary does. */
  async #refuseLoss(): Promise<void> {
    const { threadId } = this.state;
    const { revision, hash } = this.#end();
    const stored: LogEnd = (await this.#options.store.head(threadId)) ?? { revision: 0, hash: '' };
    if (stored.revision === revision && stored.hash === hash) return;
    if (stored.revision > revision) await this.#readOn();
    else if (stored.revision === 0 || (await this.#isReplaced())) throw this.#deleted();
    /* It may be longer than the summary said: somebody has appended since. */
    if (stored.revision > revision && stored.revision <= this.revision) return;
    /* Or it was deleted in between. */
    if ((await this.#options.store.head(threadId))?.hash !== stored.hash) {
      await this.#refuseLoss();
      return;
    }
    throw new HoldpointError(
      'log-tampered',
      `The log of thread ${threadId} ends at revision ${this.revision}, and the store says it is at ${stored.revision}.`,
    );
  }

  /** Whether the store has another thread of this id now. */
  async #isReplaced(): Promise<boolean> {
    const [mark] = this.state.entries;
    const [first] = await this.#options.store.read(this.state.threadId);
    return mark !== undefined && first !== undefined && readEntry(first).hash !== mark.hash;
  }

  #deleted(): HoldpointError {
    const { threadId } = this.state;
    return new HoldpointError(
      'thread-deleted',
      `Thread ${threadId} was deleted. This handle can't be used any more; agent.thread starts a new thread of this id.`,
    );
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
