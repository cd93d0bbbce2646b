import type { ApprovalRequest } from '../../content/approval.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { type Asked, makeRequest, type RequestMaking } from './make-request.ts';
import { whyNotKey } from './request-key.ts';

/** Opens an approval request of the app itself, or finds the one with its key. */
export async function requestApproval(
  log: ThreadLog,
  making: Omit<RequestMaking, 'threadId'>,
  asked: Asked,
): Promise<ApprovalRequest> {
  const fault = asked.key === undefined ? undefined : whyNotKey(asked.key);
  if (fault !== undefined) throw new HoldpointError('invalid-input', `${fault}.`);
  const { threadId, head } = log.state;
  const { requestedBy } = head;
  const request = await makeRequest({ ...making, threadId, requestedBy }, asked);
  let standing = request;
  await log.commit((proposal) => {
    const first = approvalWithKey(proposal.state, asked.key);
    standing = first ?? request;
    if (first === undefined)
      proposal.add({ type: 'request-opened', at: request.createdAt, request });
  });
  return standing;
}

/** The approval request that the app has opened with this key, whether it is still open or not. */
function approvalWithKey(
  { head, endedRequests }: Readonly<ThreadState>,
  key: string | undefined,
): ApprovalRequest | undefined {
  if (key === undefined) return undefined;
  for (const { request, step } of [...head.openRequests, ...endedRequests.values()]) {
    if (step === undefined && request.key === key && request.type === 'approval-request')
      return request;
  }
  return undefined;
}
