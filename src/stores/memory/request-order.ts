import { type Risk, risks } from '../../content/approval-terms.ts';
import type {
  RequestFilter,
  RequestPlace,
  RequestQuery,
  StoredRequest,
} from '../../thread/thread-store-requests.ts';

/** Whether a filter selects a row; `now` is the time if the filter has none. */
export function isSelected(row: StoredRequest, filter: RequestFilter, now: number): boolean {
  const { kind, agent, tenant, approver, toolName, risk, requester, threadId } = filter;
  return (
    hasState(row, filter, now) &&
    (kind === undefined || row.kind === kind) &&
    (agent === undefined || row.agent === agent) &&
    (tenant === undefined || row.tenant === tenant) &&
    (approver === undefined || namesOneOf(row, approver)) &&
    (toolName === undefined || row.toolName === toolName) &&
    (risk === undefined || row.risk === risk) &&
    (requester === undefined || row.requesters.includes(requester)) &&
    (threadId === undefined || row.threadId === threadId)
  );
}

function hasState(row: StoredRequest, { state, at }: RequestFilter, now: number): boolean {
  if (state === undefined) return true;
  if (state === 'decided') return row.state !== 'open';
  if (row.state !== state) return false;
  return state !== 'open' || (row.expiresAt ?? Infinity) > (at ?? now);
}

/** Whether a row names one of these approvers, or nobody. */
function namesOneOf({ approvers }: StoredRequest, names: readonly string[]): boolean {
  return approvers.length === 0 || approvers.some((approver) => names.includes(approver));
}

type Compare = (one: RequestPlace, other: RequestPlace) => number;

const byId: Compare = (one, other) =>
  Number(one.requestId > other.requestId) - Number(one.requestId < other.requestId);

/* The difference of two infinite times is NaN, which is falsy as 0 is. */
export const requestOrders: Record<NonNullable<RequestQuery['order']>, Compare> = {
  oldest: (one, other) => one.createdAt - other.createdAt || byId(one, other),
  newest: (one, other) => other.createdAt - one.createdAt || byId(one, other),
  expires: (one, other) =>
    (one.expiresAt ?? Infinity) - (other.expiresAt ?? Infinity) || byId(one, other),
  risk: (one, other) =>
    rankRisk(other.risk) - rankRisk(one.risk) || requestOrders.oldest(one, other),
  decided: (one, other) =>
    (other.decidedAt ?? -Infinity) - (one.decidedAt ?? -Infinity) || byId(one, other),
};

/** The higher, the riskier; -1 for none. */
function rankRisk(risk: Risk | null): number {
  return risk === null ? -1 : risks.indexOf(risk);
}
