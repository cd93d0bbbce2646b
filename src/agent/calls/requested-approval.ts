import { renderSchemaError } from '../../json/field-fault.ts';
import type { ApprovalRequest } from '../../content/approval.ts';
import { HoldpointError } from '../../errors.ts';
import {
  type Asked,
  parseDemands,
  type UserApproval,
  userApprovalSchema,
} from '../../policy/user-approval.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { z } from 'zod';
import { type RequestMaking, makeRequest } from './make-request.ts';

/** An approval that the app requests itself: the terms of a rule, except those about calls. */
export interface RequestedApproval extends Omit<
  UserApproval,
  'type' | 'text' | 'editable' | 'remember' | 'startWithinMs'
> {
  /** The question for the person. */
  text: string;
  /** A second request with the same key returns the first one, or the one that follows it after its expiry. 1 to 256 characters. */
  key?: string | undefined;
}

/** The schema of `RequestedApproval` without its key. */
export const requestedApprovalSchema = userApprovalSchema
  .omit({ type: true, editable: true, remember: true, startWithinMs: true })
  .extend({ text: z.string() });

/** Parses the app's request, with its defaults. */
export function parseRequestedApproval({
  text,
  ...requested
}: z.output<typeof requestedApprovalSchema>): Asked & { text: string } {
  return { ...parseDemands({ type: 'user-approval', ...requested }), text };
}

/** Finds the reason why a value is not a valid request key; `undefined` if it is valid. */
export function whyNotKey(key: unknown): string | undefined {
  const isKey =
    typeof key === 'string' && key.length > 0 && key.length <= 256 && key.isWellFormed();
  return isKey ? undefined : 'A key must be a well-formed string of 1 to 256 characters';
}

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
      `Not a valid approval request: ${renderSchemaError(parsed.error)}`,
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
 * Finds the approval request that the app has opened with this key, whether it is still open or not; the last one, if it expired and was
 * followed by another.
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
