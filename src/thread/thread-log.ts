import { isKeptByStore } from '../content/approval-terms.ts';
import type { Grant } from '../content/grant.ts';
import { HoldpointError } from '../errors.ts';
import { appendOnce, isConflict, listBeside } from './append-once.ts';
import { adopt, type Appended, applyEntry } from './apply-events.ts';
import { readEntry, verifyEntry, writeEntry } from './log-entry.ts';
import { type Decide, Proposal, type ThreadOrigin } from './proposal.ts';
import { SerialWork } from '../content/waiting.ts';
import type { ThreadEvent } from './thread-event.ts';
import { type ThreadHead, summarizeThread } from './thread-head.ts';
import {
  countBeforeSnapshot,
  takeSnapshot,
  isSnapshotDue,
  readSnapshotState,
  retakeSnapshot,
  verifySnapshot,
} from './thread-snapshot.ts';
import { makeEmptyThread, type ThreadState } from './thread-state.ts';
import {
  collectChanges,
  findRowFault,
  joinChanges,
  listRequestChanges,
} from './stored-requests.ts';
import type { RequestChange } from './thread-store-requests.ts';
import type { GrantChange, LogEnd, LogEntry, StoredGrant, ThreadStore } from './thread-store.ts';
import { appendTraced, isTraced } from './tracing/trace-operations.ts';

/** The store of a log, and the functions that are notified. */
export interface ThreadLogOptions {
  store: ThreadStore;
  now: () => number;
  /** The origin of a new thread. */
  origin: ThreadOrigin;
  /** Throws for a thread that belongs to another agent. */
  refuse: (state: Readonly<ThreadState>) => void;
  /** True if the log is read from its beginning even if there is a snapshot. */
  ignoresSnapshots?: true;
  /** Called once events are durable and applied. */
  onAppended: (events: readonly ThreadEvent[]) => void;
  /** Called after `onAppended` for a commit, but not for a thread that is written whole, whose events are old. */
  onCommitted?: (state: Readonly<ThreadState>, events: readonly ThreadEvent[]) => void;
}

/**
 * A thread as one process sees it: its state, read from the store, and the only way to append to it. After a concurrent append, the events
 * to append are decided again from the newest state. See ADR 2.
 */
export class ThreadLog {
  readonly state: ThreadState;
  readonly #options: ThreadLogOptions;
  /* Two runs on one handle must not apply the same events twice. */
  readonly #work = new SerialWork();

  constructor(threadId: string, options: ThreadLogOptions) {
    this.state = makeEmptyThread(threadId);
    this.#options = options;
  }

  get revision(): number {
    return this.state.events.length;
  }

  /** Reads the thread for the first time, from its snapshot if it has one. Throws `log-tampered` if its end is missing. */
  open(): Promise<void> {
    return this.#work.run(async () => {
      /* In one round trip. What was appended between the two is read by `#checkEnd`. */
      const reading = [this.#readNew(), this.#options.store.head(this.state.threadId)] as const;
      const [, stored] = await Promise.all(reading);
      if (!this.#endsAt(stored)) await this.#checkEnd();
    });
  }

  /**
   * Reads the log from its beginning, and verifies every entry, the snapshot, and the rows of requests. Throws `log-tampered` if any of it
   * was changed, `thread-deleted` if it is not the log of this handle.
   */
  async verify(): Promise<void> {
    const { threadId } = this.state;
    const { revision, hash } = this.#end();
    const whole = new ThreadLog(threadId, { ...this.#options, ignoresSnapshots: true });
    await whole.open();
    const known = whole.state.entries.find((entry) => entry.revision === revision);
    if (revision > 0 && known?.hash !== hash) throw this.#deleted();
    const { snapshots, requests } = this.#options.store;
    await verifySnapshot(whole.state, await snapshots?.read(threadId));
    if (requests === undefined) return;
    for (let fault: HoldpointError | undefined; ;) {
      const compared = whole.revision;
      fault = await findRowFault(whole.state, requests);
      if (fault === undefined) return;
      /* Another process may have appended while the rows were read. */
      await whole.#checkEnd();
      if (whole.revision === compared) throw fault;
    }
  }

  /** Reads what others have appended. */
  pull(): Promise<void> {
    return this.#work.run(() => this.#readNew());
  }

  /**
   * Appends the proposal of `decide` for the newest state, and returns its events once they are durable. `decide` is called again after a
   * concurrent append. When it throws, or proposes nothing, nothing is written. A fact is recorded even if the thread now belongs to
   * another agent.
   */
  async commit(decide: Decide, { isFact = false } = {}): Promise<readonly ThreadEvent[]> {
    const turn = this.#work.begin();
    if (turn !== undefined) await turn;
    try {
      for (;;) {
        const proposal = new Proposal(this.state, this.#options.origin);
        if (!isFact) this.#options.refuse(this.state);
        decide(proposal);
        const { events, head } = proposal;
        if (events.length === 0) {
          await this.#checkEnd();
          return [];
        }
        const appended = isTraced()
          ? await appendTraced(proposal, (traced) => this.#append(traced, head))
          : await this.#append(events, head);
        if (appended !== undefined) return appended;
        await this.#readNew();
        await this.#checkEnd();
      }
    } finally {
      this.#work.end();
    }
  }

  /**
   * Writes a whole thread that the store does not have, with the snapshot that its log names. If this fails, this log must not be used any
   * more.
   */
  async writeWhole(entries: readonly LogEntry[]): Promise<void> {
    await this.#work.run(async () => {
      const { store, refuse, now, onAppended } = this.#options;
      /* Applied first: a log whose events are inconsistent must not reach the store. */
      const count = store.snapshots === undefined ? 0 : countBeforeSnapshot(entries);
      const changes: RequestChange[] = [];
      const onApplied = store.requests && collectChanges(changes);
      await this.#apply(entries.slice(0, count), onApplied);
      const snapshot = await retakeSnapshot(this.state, entries[count]);
      await this.#apply(entries.slice(count), onApplied);
      if (snapshot === undefined) this.state.snapshotSize = 0;
      refuse(this.state);
      const { threadId, head } = this.state;
      const summary = summarizeThread(threadId, head, { end: this.#end(), now: now() });
      const beside = listBeside({ snapshot, requests: joinChanges(changes) });
      await store.append(threadId, { revision: 0, hash: '' }, entries, summary, ...beside);
      onAppended(this.state.events.slice());
    });
  }

  /** Deletes the thread from the store. `check` may throw to prevent it, and is called again after a concurrent append. */
  async delete(check: (state: Readonly<ThreadState>) => void): Promise<void> {
    await this.#work.run(async () => {
      for (;;) {
        this.#options.refuse(this.state);
        check(this.state);
        try {
          await this.#options.store.delete(this.state.threadId, this.#end());
          return;
        } catch (error) {
          if (!isConflict(error)) throw error;
        }
        await this.#readNew();
        await this.#checkEnd();
      }
    });
  }

  /** Returns the events as they are stored; `undefined` after a concurrent append, when nothing was written. */
  async #append(
    proposed: readonly ThreadEvent[],
    head: ThreadHead,
  ): Promise<readonly ThreadEvent[] | undefined> {
    const { store, onAppended, onCommitted } = this.#options;
    const { threadId } = this.state;
    const end = this.#end();
    const grants = listGrantChanges(proposed);
    const { snapshots } = store;
    const isDue =
      grants === undefined && snapshots !== undefined && isSnapshotDue(snapshots, this.state);
    const snapshot = isDue ? await takeSnapshot(this.state) : undefined;
    const { state } = this;
    const requests = store.requests && listRequestChanges({ state, events: proposed, head });
    const written = writeEntry(proposed, end, snapshot?.digest);
    const entry = written instanceof Promise ? await written : written;
    const content = readEntry(entry);
    const summary = summarizeThread(threadId, head, {
      end: { revision: entry.revision, hash: content.hash },
      now: this.#options.now(),
    });
    const isAppended = await appendOnce(store, threadId, {
      end,
      entry,
      summary,
      grants,
      snapshot: snapshot?.text,
      requests,
    });
    if (!isAppended) return undefined;
    adopt(this.state, content, head);
    onAppended(content.events);
    onCommitted?.(this.state, content.events);
    return content.events;
  }

  async #readNew(): Promise<void> {
    const { store, ignoresSnapshots } = this.#options;
    const entries = await store.read(this.state.threadId, this.revision);
    if (entries.length === 0) return;
    const mayBeBehind = this.revision === 0 && store.snapshots !== undefined && !ignoresSnapshots;
    try {
      await (mayBeBehind ? this.#applyWhole(entries) : this.#apply(entries));
    } catch (error) {
      throw (await this.#isReplaced()) ? this.#deleted() : error;
    }
  }

  /** Applies all entries of the log: those behind the thread's snapshot, if there is one, by taking the state from it. */
  async #applyWhole(entries: readonly LogEntry[]): Promise<void> {
    const known = await readSnapshotState(this.#options.store, this.state.threadId, entries);
    Object.assign(this.state, known);
    await this.#apply(entries.slice(this.state.entries.length));
    /* The snapshot that the log names is not in the store: the next append takes another one. */
    if (known === undefined) this.state.snapshotSize = 0;
  }

  /** Verifies entries and applies them to the state. */
  async #apply(
    entries: readonly LogEntry[],
    onApplied?: (appended: Appended) => void,
  ): Promise<void> {
    for (const entry of entries) {
      const verified = verifyEntry(entry, this.#end());
      applyEntry(this.state, verified instanceof Promise ? await verified : verified, onApplied);
    }
  }

  /** The place of the next entry. */
  #end(): LogEnd {
    const { revision, hash } = this.state.entries.at(-1) ?? { revision: 0, hash: '' };
    return { revision, hash };
  }

  #endsAt(stored: LogEnd = { revision: 0, hash: '' }): boolean {
    const { revision, hash } = this.#end();
    return stored.revision === revision && stored.hash === hash;
  }

  /*
   * Throws `log-tampered` if the end of the log is missing, after an edit or because only part of a backup was restored. The chain of
   * hashes does not show that; the store's summary does.
   */
  async #checkEnd(): Promise<void> {
    const { threadId } = this.state;
    const { revision } = this.#end();
    const stored: LogEnd = (await this.#options.store.head(threadId)) ?? { revision: 0, hash: '' };
    if (this.#endsAt(stored)) return;
    if (stored.revision > revision) await this.#readNew();
    else if (stored.revision === 0 || (await this.#isReplaced())) throw this.#deleted();
    /* Another process may have appended after the summary was read. */
    if (stored.revision > revision && stored.revision <= this.revision) return;
    /* Or deleted the thread. */
    if ((await this.#options.store.head(threadId))?.hash !== stored.hash) {
      await this.#checkEnd();
      return;
    }
    throw new HoldpointError(
      'log-tampered',
      `The log of thread ${threadId} ends at revision ${this.revision}, but the store's summary says ${stored.revision}. Restore the thread from a backup.`,
    );
  }

  /** Checks whether the thread was deleted and another one was created with its id. */
  async #isReplaced(): Promise<boolean> {
    const [mark] = this.state.entries;
    const [first] = await this.#options.store.read(this.state.threadId);
    return mark !== undefined && first !== undefined && readEntry(first).hash !== mark.hash;
  }

  #deleted(): HoldpointError {
    const { threadId } = this.state;
    return new HoldpointError(
      'thread-deleted',
      `Thread ${threadId} was deleted, and this handle can't be used any more. agent.thread starts a new thread with this id.`,
    );
  }
}

/** Lists the changes that events make in the store's standing approvals, which are wider than one thread; `undefined` if there are none. */
function listGrantChanges(events: readonly ThreadEvent[]): GrantChange[] | undefined {
  const changes: GrantChange[] = [];
  for (const event of events) {
    if (event.type === 'grant-created' && isKeptByStore(event.grant.scope)) {
      changes.push({ type: 'create', grant: toStoredGrant(event.grant) });
    }
    if (event.type === 'grant-used' && isKeptByStore(event.scope)) {
      changes.push({ type: 'use', grantId: event.grantId, at: event.at });
    }
    if (event.type === 'grant-revoked' && event.scope !== undefined) {
      changes.push({ type: 'revoke', grantId: event.grantId });
    }
  }
  return changes.length === 0 ? undefined : changes;
}

function toStoredGrant(grant: Grant): StoredGrant {
  const { grantId, agent = null, toolName, person = null, createdAt, expiresAt, uses } = grant;
  return {
    grantId,
    agent,
    toolName,
    person,
    text: JSON.stringify(grant),
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
  };
}
