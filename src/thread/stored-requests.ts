import { readPages } from '../content/read-pages.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import { stringifySorted } from '../json/json-value.ts';
import { namePrincipal } from '../content/request-text.ts';
import { listRequesters, type Requested } from '../content/requesters.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { type Appended, applyEntry } from './apply-events.ts';
import type { ThreadEvent } from './thread-event.ts';
import {
  type EndedRequest,
  isSamePlace,
  isStuck,
  needsSettling,
  type OpenRequest,
  type ThreadHead,
} from './thread-head.ts';
import { makeEmptyThread, type ThreadState } from './thread-state.ts';
import type {
  RequestChange,
  RequestKind,
  StoredRequest,
  ThreadStoreRequests,
} from './thread-store-requests.ts';
import { findDecisionStatus, isRequestEvent, readRequestId } from './request-events.ts';

/*
 * Rows of requests, lost calls and stuck threads, for the store. They are derived only from the log, so that they can be compared with it
 * and rebuilt from it.
 */

/**
 * Lists the changes that events make in the rows of a thread; `undefined` if there are none. A sub-agent's requests are rows of the
 * outermost thread, which repeats them. Its lost calls are rows of its own thread, in which they are settled.
 */
export function listRequestChanges(appended: Appended): RequestChange[] | undefined {
  const requests = appended.head.parent === undefined ? compareRequests(appended) : [];
  const changes = [...requests, ...compareTroubles(appended)];
  return changes.length === 0 ? undefined : changes;
}

/** Adds the changes of each applied append to `changes`. */
export function collectChanges(changes: RequestChange[]): (appended: Appended) => void {
  return (appended) => {
    const changed = listRequestChanges(appended);
    if (changed !== undefined) changes.push(...changed);
  };
}

/** A thread's log. */
type Log = Pick<ThreadState, 'threadId' | 'entries' | 'events'>;

/** Lists the changes that the appends of a log have made in the rows of its thread, oldest first. */
export function replayChanges({ threadId, entries, events }: Log): RequestChange[] {
  const changes: RequestChange[] = [];
  const state = makeEmptyThread(threadId);
  for (const { revision, hash } of entries) {
    const content = { events: events.slice(state.events.length, revision), hash };
    applyEntry(state, content, collectChanges(changes));
  }
  return changes;
}

/** The rows of a thread by request id, from its log. */
export function replayRequests(log: Log): Map<string, StoredRequest> {
  return mapById(replayChanges(log));
}

function mapById(changes: readonly RequestChange[]): Map<string, StoredRequest> {
  return new Map(changes.map(({ request }) => [request.requestId, request]));
}

/**
 * Joins the changes of all appends of a thread to those of one append, for a store that gets the thread as a whole; `undefined` if there
 * are none.
 */
export function joinChanges(changes: readonly RequestChange[]): RequestChange[] | undefined {
  if (changes.length === 0) return undefined;
  return [...mapById(changes).values()].map((request) => ({
    type: request.state === 'open' ? 'opened' : 'closed',
    request,
  }));
}

/**
 * Compares the rows that a store has of a thread with its log. Resolves with a `log-tampered` that names the first row that is missing,
 * differs, or is not in the log. The text of a decided one may have been erased.
 */
export async function findRowFault(
  log: Log,
  requests: ThreadStoreRequests,
): Promise<HoldpointError | undefined> {
  const { threadId } = log;
  const rows = replayRequests(log);
  const stored = await listStoredRows(requests, threadId);
  const ids = [...new Set([...rows.keys(), ...stored.keys()])];
  const requestId = ids.find((id) => !isSameRow(rows.get(id), stored.get(id)));
  if (requestId === undefined) return undefined;
  const backup = 'Restore the store from a backup.';
  const fault = !rows.has(requestId)
    ? `is in the store, but not in the log. ${backup}`
    : stored.has(requestId)
      ? `differs in the store from the log. ${backup}`
      : `is in the log, but not in the store. ${backup}`;
  const message = `Request ${requestId} of thread ${threadId} ${fault}`;
  return new HoldpointError('log-tampered', message, { requestId });
}

/* The number of rows that are read at a time. */
const pageSize = 500;

async function listStoredRows(
  requests: ThreadStoreRequests,
  threadId: string,
): Promise<Map<string, StoredRequest>> {
  const rows = new Map<string, StoredRequest>();
  const readPage = async (after?: StoredRequest) =>
    requests.list({ threadId, limit: pageSize, after });
  for await (const page of readPages(readPage, pageSize)) {
    for (const row of page) rows.set(row.requestId, row);
  }
  return rows;
}

function isSameRow(row: StoredRequest | undefined, stored: StoredRequest | undefined): boolean {
  if (row === undefined || stored === undefined) return false;
  const isErased = stored.text === null && row.state !== 'open';
  return stringifySorted(isErased ? { ...row, text: null } : row) === stringifySorted(stored);
}

function compareRequests({ state, events, head }: Appended): RequestChange[] {
  const { threadId, head: before } = state;
  const { agent, openRequests, newlyPast } = head;
  const isSameAgent = agent === before.agent;
  if (openRequests === before.openRequests && newlyPast.requests.size === 0 && isSameAgent) {
    return [];
  }
  const known = new Map(before.openRequests.map((open) => [open.request.requestId, open]));
  /* For a request that was answered and closed, the time when it was closed. */
  const endTimes = new Map<string, number>();
  for (const event of events)
    if (isRequestEvent(event, 'ends')) endTimes.set(readRequestId(event), event.at);
  const closed = [...newlyPast.requests.values()].map((each): RequestChange => {
    const decision = describeEnd(each, endTimes.get(each.request.requestId));
    return { type: 'closed', request: makeRequestRow(threadId, agent, each, decision) };
  });
  const open = openRequests.flatMap((each): RequestChange[] => {
    const earlier = known.get(each.request.requestId);
    if (earlier === each && isSameAgent) return [];
    const request = makeRequestRow(threadId, agent, each, undecided);
    return [{ type: earlier === undefined ? 'opened' : 'changed', request }];
  });
  return [...closed, ...open];
}

type Decision = Pick<StoredRequest, 'state' | 'decidedBy' | 'decidedAt'>;

const undecided: Decision = { state: 'open', decidedBy: null };

function describeEnd(ended: EndedRequest, endedAt = 0): Decision {
  const { cause, principal, closedBy } = ended;
  /* Of a request that was closed after its answer, the answer no longer counts. */
  const by = cause === undefined ? { principal } : closedBy;
  return {
    state: findDecisionStatus(ended),
    decidedBy: makeStorable(closedBy?.person ?? namePrincipal(by?.principal)),
    decidedAt: endedAt,
  };
}

function makeRequestRow(
  threadId: string,
  agent: string | undefined,
  { request, isReminded }: OpenRequest,
  decision: Decision,
): StoredRequest {
  const isApproval = request.type === 'approval-request';
  const asked: Partial<ApprovalRequest> = isApproval ? request : {};
  const { approvers, reassignments = [], votes = [], quorum = 1, risk = null } = asked;
  const named = approvers === undefined ? [] : [...approvers, ...reassignments.map(({ to }) => to)];
  const { requestId, toolCall, createdAt, expiresAt } = request;
  const remindAt = isReminded === true ? undefined : asked.remindAt;
  return {
    requestId,
    threadId,
    agent: agent ?? null,
    kind: isApproval ? 'approval' : 'question',
    toolName: makeStorable(toolCall?.toolName),
    ...describeRequested(request),
    approvers: [...new Set(named.map(toStoredName))],
    risk,
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(remindAt === undefined ? {} : { remindAt }),
    votes: decision.state === 'approved' ? quorum : votes.length,
    quorum,
    ...decision,
    text: JSON.stringify(request),
  };
}

/** A lost call or a stuck thread: its row, and the check for the event that ends it. */
interface Trouble {
  row: StoredRequest;
  mayEnd: (event: ThreadEvent) => boolean;
}

function compareTroubles({ state, events, head }: Appended): RequestChange[] {
  if (!isTroubled(state.head) && !isTroubled(head)) return [];
  const past = listTroubles({ state, events: [], head: state.head });
  const present = listTroubles({ state, events, head });
  const settled = [...past].flatMap(([id, { row, mayEnd }]): RequestChange[] => {
    if (present.has(id)) return [];
    const end = events.find(mayEnd);
    const settler = end && 'principal' in end ? end.principal : undefined;
    const decidedBy = makeStorable(namePrincipal(settler));
    const decidedAt = (end ?? events.at(-1))?.at ?? 0;
    return [{ type: 'closed', request: { ...row, state: 'settled', decidedBy, decidedAt } }];
  });
  const open = [...present].flatMap(([id, { row }]): RequestChange[] => {
    const earlier = past.get(id)?.row;
    if (earlier === undefined) return [{ type: 'opened', request: row }];
    const isSame = JSON.stringify(earlier) === JSON.stringify(row);
    return isSame ? [] : [{ type: 'changed', request: row }];
  });
  return [...settled, ...open];
}

function isTroubled(head: ThreadHead): boolean {
  return head.failure !== undefined || head.calls.some(needsSettling);
}

/**
 * The lost calls of a thread, and the thread itself if it is stuck, by the ids of their rows. The thread above reports a sub-agent that is
 * stuck.
 */
function listTroubles(appended: Appended): Map<string, Trouble> {
  const { head } = appended;
  const lost = head.calls.filter(needsSettling).map((call) => makeLostCall(appended, call));
  const stuck = head.parent === undefined && isStuck(head) ? [makeStuckThread(appended)] : [];
  return new Map([...lost, ...stuck].map((each) => [each.row.requestId, each]));
}

function makeLostCall(appended: Appended, call: ToolCallRecord): Trouble {
  const isAbout = (event: ThreadEvent): boolean => 'index' in event && isSamePlace(call, event);
  const row = makeTroubleRow(appended, {
    kind: 'lost-call',
    toolName: makeStorable(call.toolName),
    begins: (event) =>
      (event.type === 'call-lost' || event.type === 'recovery-failed') && isAbout(event),
    content: { call },
  });
  return { row, mayEnd: isAbout };
}

function makeStuckThread(appended: Appended): Trouble {
  const row = makeTroubleRow(appended, {
    kind: 'stuck-thread',
    toolName: null,
    begins: ({ type }) => type === 'run-ended',
    content: { failures: appended.head.failure?.failures },
  });
  return { row, mayEnd: (event) => 'principal' in event && event.principal !== undefined };
}

function makeTroubleRow(
  { state, events, head }: Appended,
  trouble: {
    kind: RequestKind;
    toolName: string | null;
    /** Checks whether it begins with an event. The last such event counts: a call can be lost, and a thread be stuck, several times. */
    begins: (event: ThreadEvent) => boolean;
    content: object;
  },
): StoredRequest {
  const { kind, toolName, begins, content } = trouble;
  const { threadId } = state;
  const added = events.findLastIndex(begins);
  const index = added === -1 ? state.events.findLastIndex(begins) : state.events.length + added;
  const [event] = added === -1 ? state.events.slice(index, index + 1) : events.slice(added);
  const requestId = `${kind}:${index + 1}:${threadId}`;
  const createdAt = event?.at ?? 0;
  const error = event !== undefined && 'error' in event ? event.error : undefined;
  const text = { type: kind, requestId, threadId, createdAt, error, ...content };
  return {
    requestId,
    threadId,
    agent: head.agent ?? null,
    kind,
    toolName,
    ...describeRequested(head),
    approvers: [],
    risk: null,
    createdAt,
    votes: 0,
    quorum: 1,
    ...undecided,
    text: JSON.stringify(text),
  };
}

function describeRequested(requested: Requested): Pick<StoredRequest, 'tenant' | 'requesters'> {
  const names = listRequesters(requested).map(namePrincipal);
  const known = names.filter((name) => name !== undefined).map((name) => makeStorable(name));
  return {
    tenant: readTenant(requested.requestedBy),
    requesters: [...new Set(known)],
  };
}

/** The tenant of a person, as rows have it. */
export function readTenant(principal: unknown): string | null {
  if (typeof principal !== 'object' || principal === null || !Object.hasOwn(principal, 'tenant'))
    return null;
  const tenant: unknown = Reflect.get(principal, 'tenant');
  /* One that would have to be cut or changed to be stored could become another tenant's. */
  const isStorable =
    typeof tenant === 'string' && tenant.length <= longestName && makeStorable(tenant) === tenant;
  return isStorable ? tenant : null;
}

/** A name as rows have it among their approvers. */
export function toStoredName(name: string): string {
  return makeStorable(name.slice(0, longestName));
}

/* The longest text that databases can index, in characters. */
const longestName = 256;

/* Text that no database takes would make the thread impossible to append to. */
function makeStorable(text: string): string;
function makeStorable(text: string | undefined): string | null;
function makeStorable(text: string | undefined): string | null {
  return text?.toWellFormed().replaceAll('\0', '\uFFFD') ?? null;
}
