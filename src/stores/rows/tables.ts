import { z } from 'zod';
import { risks } from '../../content/approval-terms.ts';
import { checkFilter } from '../../content/check-settings.ts';
import { requestKinds, requestStates } from '../../content/request-state.ts';
import { HoldpointError } from '../../errors.ts';
import { readParentHash } from '../../thread/child-threads.ts';
import type {
  FeedChange,
  RequestFilter,
  RequestQuery,
  StoredRequest,
} from '../../thread/thread-store-requests.ts';
import {
  type GrantChange,
  type LogEnd,
  type StoredGrant,
  type ThreadFilter,
  type ThreadQuery,
  threadStatuses,
  type ThreadStoreGrants,
  type ThreadSummary,
} from '../../thread/thread-store.ts';
import type { RowCondition, RowOrder, RowPage } from './row-query.ts';
import { anyApprover, ascending, declareTable, descending, listEqual, makePage } from './table.ts';

/* The tables of a store: their columns, the conditions of their filters, and their orders, for all stores. */

export const threads = declareTable<ThreadSummary>({
  name: 'threads',
  key: 'threadId',
  kinds: {
    threadId: 'key',
    agent: 'optionalAgent',
    status: 'key',
    revision: 'count',
    openRequests: 'count',
    failures: 'count',
    nextDeadline: 'time',
    updatedAt: 'time',
    hash: 'text',
  },
  /* The hash of the entry that proposed the call of a child thread. */
  derived: { parent: ({ threadId }) => readParentHash(threadId ?? '') ?? null },
  schema: z.object({
    threadId: z.string(),
    agent: z.string().exactOptional(),
    /* A status of a newer holdpoint needs a person. */
    status: z.enum(threadStatuses).catch('indeterminate'),
    revision: z.number(),
    hash: z.string(),
    openRequests: z.number(),
    failures: z.number(),
    nextDeadline: z.number().exactOptional(),
    updatedAt: z.number(),
  }),
});

/** Lists the conditions of a filter of threads on their columns. */
export function listThreadConditions(filter: ThreadFilter): RowCondition[] {
  const { status, agent, dueBefore, updatedBefore } = filter;
  checkFilter({ agent, status });
  return [
    ...listEqual(threads, { status, agent }),
    ...(dueBefore === undefined ? [] : [{ column: 'nextDeadline', below: dueBefore }]),
    ...(updatedBefore === undefined ? [] : [{ column: 'updatedAt', below: updatedBefore }]),
  ];
}

const threadOrders: Record<NonNullable<ThreadQuery['order']>, readonly RowOrder[]> = {
  id: [ascending('key')],
  oldest: [ascending('updatedAt'), ascending('key')],
  newest: [descending('updatedAt'), descending('key')],
};

/** Makes the order, the start and the length of a page of threads. */
export function makeThreadPage({ order = 'id', after, limit }: ThreadQuery): RowPage {
  return makePage(threads, { order: threadOrders[order], after, limit });
}

export const requests = declareTable<StoredRequest>({
  name: 'requests',
  key: 'requestId',
  kinds: {
    requestId: 'key',
    threadId: 'key',
    agent: 'agent',
    tenant: 'key',
    kind: 'key',
    toolName: 'key',
    requesters: 'texts',
    approvers: 'approvers',
    risk: 'risk',
    createdAt: 'time',
    expiresAt: 'end',
    remindAt: 'time',
    votes: 'count',
    quorum: 'count',
    state: 'key',
    decidedBy: 'text',
    decidedAt: 'decision',
    text: 'text',
  },
  schema: z.object({
    requestId: z.string(),
    threadId: z.string(),
    agent: z.string().nullable(),
    tenant: z.string().nullable(),
    kind: z.enum(requestKinds),
    toolName: z.string().nullable(),
    requesters: z.array(z.string()),
    approvers: z.array(z.string()),
    risk: z.enum(risks).nullable(),
    createdAt: z.number(),
    expiresAt: z.number().exactOptional(),
    remindAt: z.number().exactOptional(),
    votes: z.number(),
    quorum: z.number(),
    state: z.enum(requestStates),
    decidedBy: z.string().nullable(),
    decidedAt: z.number().exactOptional(),
    text: z.string().nullable(),
  }),
});

/** The error for a log that does not end at `expected`. */
export function makeConflictError(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
}

/** A change in the feed, without the request as it is now. */
export type KeptChange = Omit<FeedChange, 'request'> & { madeAt: number };

/** Lists the conditions of a filter of requests on their columns. `now` is the time, or stands for it, if the filter has none. */
export function listRequestConditions<TIME = never>(
  filter: RequestFilter,
  now: number | TIME,
): (RowCondition | { column: string; above: number | TIME })[] {
  const { state, at = now, kind, agent, tenant, approver, toolName, risk, requester } = filter;
  const { threadId } = filter;
  checkFilter({ agent, threadId });
  return [
    ...listEqual(requests, { threadId }),
    ...(state === 'decided'
      ? [{ column: 'state', noneOf: ['open'] }]
      : listEqual(requests, { state })),
    ...(state === 'open' ? [{ column: 'expiresAt', above: at }] : []),
    ...listEqual(requests, { kind, agent, tenant, toolName, risk }),
    ...(requester === undefined ? [] : [{ column: 'requesters', oneOf: [requester] }]),
    ...(approver === undefined ? [] : [{ column: 'approvers', oneOf: [anyApprover, ...approver] }]),
  ];
}

const requestOrders: Record<NonNullable<RequestQuery['order']>, readonly RowOrder[]> = {
  oldest: [ascending('createdAt'), ascending('key')],
  newest: [descending('createdAt'), ascending('key')],
  expires: [ascending('expiresAt'), ascending('key')],
  risk: [ascending('risk'), ascending('createdAt'), ascending('key')],
  decided: [descending('decidedAt'), ascending('key')],
};

/** Makes the order, the start and the length of a page of requests; with `before`, its last row comes first. */
export function makeRequestPage({ order = 'oldest', after, before, limit }: RequestQuery): RowPage {
  const forward = requestOrders[order];
  if (before === undefined) return makePage(requests, { order: forward, after, limit });
  const backward = forward.map(({ column, isDescending }) => ({
    column,
    isDescending: !isDescending,
  }));
  return makePage(requests, { order: backward, after: before, limit });
}

export const grants = declareTable<StoredGrant>({
  name: 'grants',
  key: 'grantId',
  kinds: {
    grantId: 'key',
    agent: 'agent',
    toolName: 'key',
    person: 'key',
    text: 'text',
    createdAt: 'time',
    expiresAt: 'optionalEnd',
    usesLeft: 'count',
  },
  schema: z.object({
    grantId: z.string(),
    agent: z.string().nullable(),
    toolName: z.string(),
    person: z.string().nullable(),
    text: z.string(),
    createdAt: z.number(),
    expiresAt: z.number().exactOptional(),
    usesLeft: z.number().exactOptional(),
  }),
});

/** Lists the conditions of the standing approvals that could decide a call. */
export function listGrantConditions({
  agent,
  toolName,
  person,
  at,
}: Parameters<ThreadStoreGrants['find']>[0]): RowCondition[] {
  checkFilter({ agent });
  return [
    ...listEqual(grants, { agent, toolName }),
    { column: 'person', oneOf: [null, person] },
    { column: 'expiresAt', above: at },
  ];
}

export const grantOrder: readonly RowOrder[] = [ascending('createdAt'), ascending('key')];

/** Makes a page of all standing approvals, or of those of an agent. */
export function selectGrants({
  agent,
  after,
  limit,
}: Parameters<ThreadStoreGrants['list']>[0]): RowPage & { where: RowCondition[] } {
  checkFilter({ agent: agent ?? null });
  const place = after === undefined ? undefined : { grantId: after };
  const page = makePage(grants, { order: [ascending('key')], after: place, limit });
  return { where: listEqual(grants, { agent }), ...page };
}

/**
 * The standing approval after a change; `undefined` if it is gone. Throws `grant-ended` if it does not exist, or if it has expired or has no
 * use left.
 */
export function changeGrant(
  grant: StoredGrant | undefined,
  change: GrantChange,
): StoredGrant | undefined {
  if (change.type === 'create') return { ...change.grant };
  const isEnded = change.type === 'use' && (grant?.expiresAt ?? Infinity) <= change.at;
  if (grant === undefined || isEnded) throw makeGrantEndedError([change]);
  const { usesLeft, ...lasting } = grant;
  if (change.type === 'revoke' || usesLeft === 1) return undefined;
  return usesLeft === undefined ? lasting : { ...lasting, usesLeft: usesLeft - 1 };
}

/** The error for an append that uses a standing approval which has ended. */
export function makeGrantEndedError(used: readonly { grantId: string }[]): HoldpointError {
  const ids = used.map(({ grantId }) => grantId).join(', ');
  return new HoldpointError(
    'grant-ended',
    `Standing approval ${ids} was revoked, has expired or has no use left.`,
  );
}
