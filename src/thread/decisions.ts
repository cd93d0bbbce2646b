import type { RequestDecision } from '../content/request-decision.ts';
import { freezeDeep } from './deep-freeze.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { EndedRequest } from './thread-head.ts';
import type { ThreadState } from './thread-state.ts';

/** How a request that is no longer open was decided. */
export function describeDecision(ended: EndedRequest): RequestDecision {
  const { request, response, principal, channel, closedBy } = ended;
  return freezeDeep({
    status: describeDecisionStatus(ended),
    request,
    ...(response === undefined ? {} : { response }),
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(closedBy === undefined ? {} : { closedBy }),
  });
}

function describeDecisionStatus({ response, cause }: EndedRequest): RequestDecision['status'] {
  /* A closed request may have an answer, which no longer counts. */
  if (response === undefined || cause !== undefined) return cause ?? 'cancelled';
  if (response.type === 'question-response') return response.status;
  return response.approved ? 'approved' : 'rejected';
}

/** How the requests that ended in these events were decided, oldest first. */
export function listDecisions(
  { endedRequests }: Readonly<ThreadState>,
  events: readonly ThreadEvent[],
): RequestDecision[] {
  const ids = events.flatMap((event) => {
    if (event.type === 'request-answered') return event.response.requestId;
    return event.type === 'request-closed' ? event.requestId : [];
  });
  return [...new Set(ids)].flatMap((id) => {
    const ended = endedRequests.get(id);
    return ended === undefined ? [] : describeDecision(ended);
  });
}
