import { z } from 'zod';
import type { ApprovalRequest } from '../../content/approval.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { makeRequest, type RequestMaking } from './make-request.ts';
import { whyNotKey } from './request-key.ts';
import {
  parseRequestedApproval,
  type RequestedApproval,
  requestedApprovalSchema,
} from './requested-approval.ts';

/** Opens an approval request that the app makes itself, or returns the one with the same key. */
export async function requestApproval(
  log: ThreadLog,
  making: Omit<RequestMaking, 'threadId'>,
  { key, ...requested }: RequestedApproval,
): Promise<ApprovalRequest> {
  const fault = key === undefined ? undefined : whyNotKey(key);
  if (fault !== undefined) throw new HoldpointError('invalid-input', `${fault}.`);
  const parsed = requestedApprovalSchema.safeParse(requested);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `Not a valid approval request: ${z.prettifyError(parsed.error)}`,
    );
  }
  const asked = { ...parseRequestedApproval(parsed.data), key };
  const { threadId, head } = log.state;
  const { requestedBy, requesters } = head;
  const request = await makeRequest({ ...making, threadId, requestedBy, requesters }, asked);
  let standing = request;
  await log.commit((proposal) => {
    const first = findApprovalByKey(proposal.state, key);
    standing = first ?? request;
    if (first === undefined)
      proposal.add({ type: 'request-opened', at: request.createdAt, request });
  });
  return standing;
}

/**
 * The approval request that the app has opened with this key, whether it is still open or not; of several, because one expired and was
 * followed by another, the last.
 */
function findApprovalByKey(
  { head, endedRequests }: Readonly<ThreadState>,
  key: string | undefined,
): ApprovalRequest | undefined {
  if (key === undefined) return undefined;
  const found = [...endedRequests.values(), ...head.openRequests].findLast(
    ({ request, step }) =>
      step === undefined && request.key === key && request.type === 'approval-request',
  )?.request;
  return found?.type === 'approval-request' ? found : undefined;
}
