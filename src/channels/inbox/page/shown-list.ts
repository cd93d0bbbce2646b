import { groupRequests } from '../../../view/group-requests.ts';
import { makeNoRights } from '../../../content/no-rights.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import type { InboxEntry } from '../inbox-api.ts';

/** A row of the list: one entry, or several that are alike. */
export interface Row {
  /** The id of its first request. */
  key: string;
  entries: readonly InboxEntry[];
}

/** Whether an entry waits for this person. */
export function isWaiting(entry: InboxEntry): boolean {
  return entry.state === 'open' && (entry.maySettle || entry.rights.mayAnswer);
}

/** Whether an entry may be put into a row with others: what the person may approve as it is. */
function isGroupable(entry: InboxEntry): entry is InboxEntry & { request: ApprovalRequest } {
  const { request, state, rights } = entry;
  return state === 'open' && rights.mayApprove && request?.type === 'approval-request';
}

/**
 * The rows of entries, in the order of the entries; those that are alike stand where the first of them does. What is in `apart` stays a row
 * of its own.
 */
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
 * The list as the person sees it, and as it is now. Arrivals would move what is under a pointer, so they wait until they are shown; what has
 * changed changes in its place.
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

  /** The entries that are shown as waiting and are in the list no more. */
  listGone(): InboxEntry[] {
    const there = new Set(this.#latest.map(({ requestId }) => requestId));
    return this.entries.filter((entry) => isWaiting(entry) && !there.has(entry.requestId));
  }

  /** How many entries are not shown yet. */
  get newCount(): number {
    const shown = new Set(this.entries.map(({ requestId }) => requestId));
    return this.#latest.filter(({ requestId }) => !shown.has(requestId)).length;
  }

  /** The list has been read. Until `show` is called, only what is shown already changes. */
  update(entries: readonly InboxEntry[]): void {
    this.#latest = entries;
    for (const entry of entries) this.replace(entry);
  }

  /** Puts what is now known of an entry in its place. */
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

  /** An entry is gone, or the person may not see it any more: until it is read again, there is nothing to answer. */
  close(entry: InboxEntry): void {
    this.replace({ ...entry, rights: makeNoRights(entry, 'no-request'), maySettle: false });
  }

  /**
   * Shows the list as it is now. The entry that is open keeps its place, also when it is over. What is being answered is put into no row with
   * others.
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
 * The row to go on with after an answer: the next one in order that needs the person, else the nearest before. Never one that was just
 * answered.
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
