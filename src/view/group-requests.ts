import type { ApprovalRequest } from '../content/approval.ts';
import { type ApprovalTerms, type Risk, risks } from '../content/approval-terms.ts';
import type { ToolCall } from '../content/tool-call.ts';

/** The parts of a request that put it into a group. */
type Groupable = Pick<ApprovalRequest, 'requestId' | 'createdAt'> &
  ApprovalTerms & {
    toolCall?: ToolCall | undefined;
    path?: ApprovalRequest['path'];
    edit?: ApprovalRequest['edit'];
  };

/** Approval requests that are alike: for the same tool, on the same terms. */
export interface RequestGroup<REQUEST> {
  /** The tool; absent for a request that is not about a call. */
  toolName?: string;
  /** At least one, the oldest first. */
  requests: REQUEST[];
}

/**
 * Puts approval requests into the order in which people should read them, the riskiest first and then the oldest, with those together that
 * are alike: for the same tool of the same agent, on the same terms. Each still needs its own answer.
 *
 * @example
 * for (const { toolName, requests } of groupRequests(response.approvalRequests)) console.log(toolName, requests.length);
 */
export function groupRequests<REQUEST extends Groupable>(
  requests: readonly REQUEST[],
): RequestGroup<REQUEST>[] {
  const groups = new Map<string, RequestGroup<REQUEST>>();
  const ordered = requests.toSorted(
    (one, other) => rankRisk(other.risk) - rankRisk(one.risk) || one.createdAt - other.createdAt,
  );
  for (const request of ordered) {
    const key = describeLikeness(request);
    const group = groups.get(key);
    const { toolCall } = request;
    if (group !== undefined) group.requests.push(request);
    else {
      const named = toolCall === undefined ? {} : { toolName: toolCall.toolName };
      groups.set(key, { ...named, requests: [request] });
    }
  }
  return [...groups.values()];
}

/* A risk that nobody named is between low and high. */
function rankRisk(risk: Risk = 'medium'): number {
  return risks.indexOf(risk);
}

/* A request that is not about a call, or was edited, is like no other. */
function describeLikeness(request: Groupable): string {
  const { toolCall, path = [], requestId, edit } = request;
  if (toolCall === undefined || edit !== undefined) return requestId;
  const agents = path.map(({ agent }) => agent);
  return JSON.stringify([agents, toolCall.toolName, listTerms(request)]);
}

/* By name, so that a new term does not compile before it is compared; without the schema, which a page would have to load. */
function listTerms(request: ApprovalTerms): Record<keyof ApprovalTerms, unknown> {
  const { approvers, notRequester, quorum, requireReason, editable } = request;
  const { remember, startWithinMs, risk, metadata } = request;
  const answerers = { approvers, notRequester, quorum, requireReason };
  return { ...answerers, editable, remember, startWithinMs, risk, metadata };
}
