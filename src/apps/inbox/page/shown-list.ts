import { groupRequests } from '../../../view/group-requests.ts';
import { makeNoRights } from '../../../content/no-rights.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import type { InboxEntry } from '../inbox-api.ts';

/** A row of the list: one entry, or several similar ones. */
export interface Row {
  /** The id of its first request. */
  key: string;
  entries: readonly InboxEntry[];
}

/** Checks whether an entry waits for this person. */
export function isWaiting(entry: InboxEntry): boolean {
  return entry.state === 'open' && (entry.maySettle || entry.rights.mayAnswer);
}

/** Checks whether an entry may share a row with others: the person may approve it unchanged. */
function isGroupable(entry: InboxEntry): entry is InboxEntry & { request: ApprovalRequest } {
  const { request, state, rights } = entry;
  return state === 'open' && rights.mayApprove && request?.type === 'approval-request';
}

/** Makes the rows of entries, in their order; similar entries share the row of the first. Entries in `apart` keep their own rows. */
export function makeRows(
  entries: readonly InboxEntry[],
  apart: ReadonlySet<string> = new Set(),
): Row[] {
  const groups = new Map<string, InboxEntry[]>();
  const agents = Map.groupBy(
    entries.filter(isGroupable).filter(({ requestId }) => !apart.has(requestId)),
    ({ agent, tenant }) => JSON.stringify([agent, tenant]),
  );
  for (const alike of agents.values()) {
    for (const { requests } of groupRequests(alike.map(({ request }) => request))) {
      const ids = new Set(requests.map(({ requestId }) => requestId));
      const members = alike.filter(({ requestId }) => ids.has(requestId));
      for (const { requestId } of members) groups.set(requestId, members);
    }
  }
  const placed = new Set<string>();
  return entries.flatMap((entry) => {
    if (placed.has(entry.requestId)) return [];
    const members = groups.get(entry.requestId) ?? [entry];
    for (const { requestId } of members) placed.add(requestId);
    return [{ key: entry.requestId, entries: members }];
  });
}

/**
 * The list as the person sees it, and its current state. Arrivals would move rows under a pointer, so they wait until they are shown;
 * changed entries change in place.
 */
export class ShownList {
  #rows: readonly Row[] = [];
  #latest: readonly InboxEntry[] = [];
  #apart: ReadonlySet<string> = new Set();

  get rows(): readonly Row[] {
    return this.#rows;
  }

  get entries(): InboxEntry[] {
    return this.#rows.flatMap(({ entries }) => entries);
  }

  /** The entries that are shown as waiting and have left the list. */
  listGone(): InboxEntry[] {
    const there = new Set(this.#latest.map(({ requestId }) => requestId));
    return this.entries.filter((entry) => isWaiting(entry) && !there.has(entry.requestId));
  }

  /** The number of entries that are not shown yet. */
  get newCount(): number {
    const shown = new Set(this.entries.map(({ requestId }) => requestId));
    return this.#latest.filter(({ requestId }) => !shown.has(requestId)).length;
  }

  /** Updates the list after it was read. Until `show` is called, only shown entries change. */
  update(entries: readonly InboxEntry[]): void {
    this.#latest = entries;
    for (const entry of entries) this.replace(entry);
  }

  /** Replaces an entry in place with its current state. */
  replace(entry: InboxEntry): void {
    const isIt = ({ requestId }: InboxEntry): boolean => requestId === entry.requestId;
    const put = (entries: readonly InboxEntry[]): readonly InboxEntry[] =>
      entries.some(isIt) ? entries.map((each) => (isIt(each) ? entry : each)) : entries;
    this.#rows = this.#rows.map((row) => {
      const entries = put(row.entries);
      return entries === row.entries ? row : { ...row, entries };
    });
    this.#latest = put(this.#latest);
  }

  /** Closes an entry that is gone, or that the person may no longer see: until it is read again, it can't be answered. */
  close(entry: InboxEntry): void {
    this.replace({ ...entry, rights: makeNoRights(entry, 'no-request'), maySettle: false });
  }

  /**
   * Shows the current list. The open entry keeps its place, even when it is over. Entries that are being answered share no row with others.
   */
  show(openId?: string, answered: Iterable<string> = []): void {
    const kept = this.entries.find(({ requestId }) => requestId === openId);
    const isThere = this.#latest.some(({ requestId }) => requestId === openId);
    const place = this.#rows.findIndex(({ entries }) => entries.some((each) => each === kept));
    const entries =
      kept === undefined || isThere ? this.#latest : insert(this.#latest, place, kept);
    this.#rows = makeRows(entries, new Set([...this.#apart, ...answered]));
  }

  /** Adds the next page below. */
  append(entries: readonly InboxEntry[]): void {
    const shown = new Set(this.entries.map(({ requestId }) => requestId));
    const added = entries.filter(({ requestId }) => !shown.has(requestId));
    this.#rows = [...this.#rows, ...makeRows(added, this.#apart)];
    this.#latest = [...this.#latest, ...added];
  }

  /** Shows each request of a row as a row of its own. */
  split(row: Row): void {
    this.#apart = new Set([...this.#apart, ...row.entries.map(({ requestId }) => requestId)]);
    this.#rows = this.#rows.flatMap((each) =>
      each.key === row.key ? makeRows(each.entries, this.#apart) : [each],
    );
  }

  clear(): void {
    this.#rows = [];
    this.#latest = [];
    this.#apart = new Set();
  }

  find(requestId: string | undefined): InboxEntry | undefined {
    return this.entries.find((each) => each.requestId === requestId);
  }

  findRow(requestId: string | undefined): Row | undefined {
    return this.#rows.find(({ entries }) => entries.some((each) => each.requestId === requestId));
  }
}

function insert(
  entries: readonly InboxEntry[],
  place: number,
  entry: InboxEntry,
): readonly InboxEntry[] {
  return [...entries.slice(0, place), entry, ...entries.slice(place)];
}

/**
 * Finds the row to continue with after an answer: the next one in order that needs the person, else the nearest before. Never one that was
 * just answered.
 */
export function findNextRow(
  rows: readonly Row[],
  leftKey: string,
  needsPerson: (entry: InboxEntry) => boolean,
): Row | undefined {
  const place = rows.findIndex(({ key }) => key === leftKey);
  const isNext = (row: Row): boolean => row.key !== leftKey && row.entries.some(needsPerson);
  return rows.slice(place + 1).find(isNext) ?? rows.slice(0, Math.max(place, 0)).findLast(isNext);
}
