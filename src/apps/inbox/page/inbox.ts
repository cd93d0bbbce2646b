import type { InboxCounts, InboxEntry, InboxRequest } from '../inbox-api.ts';
import { PageAnswers } from './page-answers.ts';
import { countWords, describeRow, describeUnread, endSentence } from './entry-words.ts';
import { Freshness } from './freshness.ts';
import {
  describeProblem,
  firstQuery,
  type InboxClient,
  type ListQuery,
  type ReadProblem,
  RefusedError,
} from './inbox-client.ts';
import { Marks } from './marks.ts';
import { findNextRow, isWaiting, type Row, ShownList } from './shown-list.ts';

/** The open request, as it was shown. */
export interface Opened {
  row: Row;
  /** A key that changes as soon as something else is shown. */
  key: string;
  /** The time of showing it, by the server's clock. */
  shownAt: number;
  /** The full request, with earlier decisions and the conversation, once read. */
  loaded?: InboxRequest;
}

/** The place of the focus after a change, which a number distinguishes from the previous one. */
export interface FocusPlace {
  at: 'heading' | 'row' | 'step' | 'search';
  change: number;
}

/** The state of an inbox's page, and the acts of its person. */
export class Inbox {
  readonly client: InboxClient;
  readonly list = new ShownList();
  readonly answering: PageAnswers;
  readonly marks: Marks;
  readonly freshness: Freshness;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();
  #query = firstQuery;
  #counts: InboxCounts | undefined;
  #next: string | undefined;
  #opened: Opened | undefined;
  #activeKey: string | undefined;
  #refreshing: Promise<void> | undefined;
  #isRefreshWanted = false;
  #isFrozen = false;
  #focus: FocusPlace | undefined;
  #openings = 0;
  /** The problem with reading the lists. */
  problem: ReadProblem | undefined;
  isRead = false;
  /** True if the person is in a field: late content does not take the focus from it. */
  isInField = (): boolean => false;
  /** True if list and detail are side by side: then a row that becomes active opens. */
  isWide = true;

  constructor(client: InboxClient, now: () => number) {
    this.client = client;
    this.#now = now;
    this.freshness = new Freshness(now());
    this.marks = new Marks(this.list, this.needsPerson, () => this.changed());
    this.answering = new PageAnswers({
      client,
      clock: now,
      opened: () => this.#opened,
      whyNotCurrent: () => this.#whyNotCurrent(),
      findKnown: (entry) => this.findKnown(entry),
      replaceEntry: (entry) => this.#replace(entry),
      moveOn: (leftKey) => this.#moveOn(leftKey),
      describeRest: () => this.describeRest(),
      focusStep: () => this.moveFocusTo('step'),
      changed: () => this.changed(),
      refresh: () => void this.refresh(),
    });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  get query(): ListQuery {
    return this.#query;
  }

  get counts(): InboxCounts | undefined {
    return this.#counts;
  }

  get opened(): Opened | undefined {
    return this.#opened;
  }

  get focus(): FocusPlace | undefined {
    return this.#focus;
  }

  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  /** The row that has the tab stop of the list. */
  get activeKey(): string | undefined {
    const { rows } = this.list;
    return rows.some(({ key }) => key === this.#activeKey) ? this.#activeKey : rows[0]?.key;
  }

  /** Shows another list, or another part of it. */
  async setQuery(change: Partial<ListQuery>): Promise<void> {
    this.#query = { ...this.#query, ...change };
    this.marks.clear();
    if (change.list !== undefined) this.close();
    this.list.clear();
    this.isRead = false;
    this.changed();
    await this.refresh();
  }

  /** Reads the log again: the list, the counts, and the open row. */
  async refresh(): Promise<void> {
    this.#isRefreshWanted = true;
    this.#refreshing ??= this.#refreshWhileWanted().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  async #refreshWhileWanted(): Promise<void> {
    while (this.#isRefreshWanted) {
      this.#isRefreshWanted = false;
      try {
        await this.#readAll();
      } catch (error) {
        this.problem = describeProblem(error);
      }
      this.changed();
    }
  }

  async #readAll(): Promise<void> {
    const query = this.#query;
    const opened = this.#opened;
    const begun = this.freshness.begin(this.#now());
    const limit = Math.min(200, Math.max(50, this.list.entries.length));
    const page = await this.client.readList(query, { limit });
    if (query !== this.#query) {
      this.#isRefreshWanted = true;
      return;
    }
    this.problem = undefined;
    this.list.update(page.entries);
    this.#next = page.next;
    const isShown = !this.isRead || !this.#isFrozen;
    this.isRead = true;
    /* Before the counts: they take longer than a page of the list. */
    if (isShown) this.showNew();
    else if (page.next === undefined) await this.#readGone();
    const [counts] = await Promise.all([this.client.readCounts(), this.#readOpened(opened)]);
    this.#counts = counts;
    this.freshness.confirm(begun, this.#now());
  }

  /* The open entry may have left the list. */
  async #readOpened(opened: Opened | undefined): Promise<void> {
    const [entry, ...others] = opened?.row.entries ?? [];
    if (opened === undefined || entry === undefined || others.length > 0) return;
    try {
      const loaded = await this.client.readRequest(entry.requestId);
      if (this.#opened?.key !== opened.key) return;
      this.#opened = { ...this.#opened, loaded };
      this.#replace(loaded.entry);
    } catch (error) {
      const isGone = error instanceof RefusedError && error.isNotFound;
      if (isGone && this.list.find(entry.requestId)) this.list.close(entry);
      else this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const problem = describeProblem(error);
    if (problem.isWithheld) this.problem = problem;
    else this.answering.alert = problem.text;
  }

  /* A row that is over shows how it ended. */
  async #readGone(): Promise<void> {
    for (const entry of this.list.listGone().slice(0, 20)) {
      try {
        this.#replace((await this.client.readRequest(entry.requestId)).entry);
      } catch (error) {
        if (error instanceof RefusedError && error.isNotFound) this.list.close(entry);
      }
    }
  }

  /* The open entry stays as it was shown, so that nothing in it moves. Long content is missing in lists, and shown once it is read. */
  #replace(entry: InboxEntry): void {
    this.list.replace(entry);
    const opened = this.#opened;
    const isAwaited = (each: InboxEntry): boolean =>
      each.requestId === entry.requestId && each.request === undefined;
    if (opened === undefined || !opened.row.entries.some(isAwaited)) return;
    const entries = opened.row.entries.map((each) => (isAwaited(each) ? entry : each));
    this.#opened = { ...opened, row: { ...opened.row, entries } };
  }

  /** Returns the current state of a shown entry. */
  findKnown(entry: InboxEntry): InboxEntry {
    return this.list.find(entry.requestId) ?? this.#findLoaded(entry.requestId) ?? entry;
  }

  /** True if the open entry is too long for a list, and not read yet. */
  get isReading(): boolean {
    const { row, loaded } = this.#opened ?? {};
    const [entry] = row?.entries ?? [];
    return entry !== undefined && entry.request === undefined && loaded === undefined;
  }

  #findLoaded(requestId: string): InboxEntry | undefined {
    const entry = this.#opened?.loaded?.entry;
    return entry?.requestId === requestId ? entry : undefined;
  }

  #whyNotCurrent(): string | undefined {
    if (this.freshness.isFresh(this.#now())) return undefined;
    void this.refresh();
    return 'The page is reading what has happened meanwhile. Try again then.';
  }

  /** Freezes the list while the pointer or the focus is where a moving row would be hit by mistake. */
  setFrozen(isFrozen: boolean): void {
    if (isFrozen === this.#isFrozen) return;
    this.#isFrozen = isFrozen;
    if (!isFrozen && this.list.newCount > 0) this.showNew();
  }

  /** Shows the current list. */
  showNew(): void {
    this.list.show(this.#opened?.row.key, this.answering.sendingIds);
    this.changed();
  }

  async loadMore(): Promise<void> {
    if (this.#next === undefined) return;
    const query = this.#query;
    try {
      const page = await this.client.readList(query, { after: this.#next, limit: 50 });
      if (query !== this.#query) return;
      this.list.append(page.entries);
      this.#next = page.next;
    } catch (error) {
      this.problem = describeProblem(error);
    }
    this.changed();
  }

  /** True if an entry still needs this person. */
  needsPerson = (entry: InboxEntry): boolean =>
    isWaiting(entry) && this.answering.describeSending(entry.requestId) === undefined;

  /** Opens a row in its current state. */
  open(row: Row, focus?: 'heading'): void {
    this.#openings += 1;
    const entries = row.entries.map((entry) => this.list.find(entry.requestId) ?? entry);
    this.#opened = {
      row: { ...row, entries },
      key: `${this.#openings}`,
      shownAt: this.client.now,
    };
    this.#activeKey = row.key;
    this.answering.reset();
    if (focus === undefined) this.changed();
    else this.moveFocusTo(focus);
    void this.#readOpened(this.#opened).then(() => this.changed());
  }

  /** Opens the request in an address. */
  async openById(requestId: string): Promise<void> {
    const row = this.list.findRow(requestId);
    if (row !== undefined) return this.open(row);
    try {
      const { entry } = await this.client.readRequest(requestId);
      this.open({ key: requestId, entries: [entry] });
    } catch (error) {
      this.#fail(error);
      this.changed();
    }
  }

  close(): void {
    this.#opened = undefined;
    this.answering.reset();
    this.changed();
  }

  /** Shows the open row in its current state. */
  reopen(): void {
    const { row } = this.#opened ?? {};
    if (row === undefined) return;
    const entries = row.entries.map((entry) => this.#findLoaded(entry.requestId) ?? entry);
    this.open({ ...row, entries }, 'heading');
  }

  /** Moves to the next or the previous row: from the list, or from the open row. */
  async move(step: 1 | -1, from: 'list' | 'detail'): Promise<void> {
    const { rows } = this.list;
    const key = from === 'detail' ? this.#opened?.row.key : this.activeKey;
    const place = rows.findIndex((row) => row.key === key);
    const isFirst = from === 'list' && this.#activeKey === undefined;
    const begun = this.answering.step;
    const openKey = this.#opened?.key;
    if (step === 1 && place === rows.length - 1 && this.hasMore) {
      await this.loadMore();
      /* The person may have moved on meanwhile. */
      const isElsewhere = openKey !== this.#opened?.key || begun !== this.answering.step;
      if (isElsewhere || this.isInField()) return;
    }
    const row = this.list.rows[isFirst ? 0 : place + step];
    if (row === undefined) return;
    this.#activeKey = row.key;
    if (from === 'detail') return this.open(row, 'heading');
    this.moveFocusTo('row');
    if (this.isWide) this.open(row);
  }

  /** Goes one level back: from a step to the open request, and from there to its row. */
  goBack(): void {
    if (this.answering.goBack()) return;
    if (!this.isWide) this.close();
    this.moveFocusTo('row');
  }

  setActive(row: Row): void {
    this.#activeKey = row.key;
    this.changed();
  }

  #moveOn(leftKey: string): void {
    const next = findNextRow(this.list.rows, leftKey, this.needsPerson);
    if (next !== undefined) return this.open(next, 'heading');
    this.close();
    this.moveFocusTo('heading');
    if (this.hasMore || this.list.newCount > 0) void this.#openFirst();
  }

  /* Everything shown was answered, and there is more. */
  async #openFirst(): Promise<void> {
    await this.refresh();
    this.showNew();
    const first = this.list.rows.find(({ entries }) => entries.some(this.needsPerson));
    if (first !== undefined && this.#opened === undefined)
      this.open(first, this.isInField() ? undefined : 'heading');
  }

  moveFocusTo(at: FocusPlace['at']): void {
    this.#focus = { at, change: (this.#focus?.change ?? 0) + 1 };
    this.changed();
  }

  /** Opens the marked requests as one row, if they can be answered together: all must be about one tool of one agent. */
  openMarked(): void {
    const { entries } = this.marks;
    const [first] = entries;
    if (first === undefined) return;
    const isOne = entries.every(
      ({ toolName, agent, rights }) =>
        toolName === first.toolName && agent === first.agent && rights.mayApprove,
    );
    if (!isOne) return this.answering.say('Only approvals of one tool can be answered together.');
    const unread = entries.find(({ request }) => request === undefined);
    if (unread !== undefined) return this.answering.say(describeUnread(unread));
    this.open({ key: first.requestId, entries }, 'heading');
  }

  /** Shows the requests of the open row one by one. */
  splitOpened(): void {
    const { row } = this.#opened ?? {};
    if (row === undefined) return;
    this.list.split(row);
    const first = this.list.findRow(row.entries.find(this.needsPerson)?.requestId ?? row.key);
    if (first !== undefined) this.open(first, 'heading');
  }

  /** Describes the remaining requests, and the next one. */
  describeRest(): string {
    const left = this.list.entries.filter(this.needsPerson).length;
    const isMore = this.hasMore || this.list.newCount > 0;
    const next = this.#opened ? ` Next: ${endSentence(describeRow(this.#opened.row))}` : '';
    if (left === 0 && !isMore) return 'Nothing is left.';
    return `${isMore ? `More than ${left}` : countWords(left, 'request')} left.${next}`;
  }
}
