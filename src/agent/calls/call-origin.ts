import { plainCopy } from '../../content/plain-copy.ts';
import { type PrincipalId, soleRequester } from '../../policy/principal-id.ts';
import type { ThreadState } from '../../thread/thread-state.ts';

/** Where a call is made, and for whom, as its tool gets it. */
export interface CallOrigin {
  /** The thread of the call: with `toolCallId`, what `agent.deliver` needs. */
  threadId?: string;
  /** Everybody for whom the turn works, each once; `null` stands for somebody unknown. */
  requesters?: readonly unknown[];
  /**
   * The only one of `requesters`, as `principalId` names them. Absent for several people, for nobody known, and for an object where the
   * agent has no `principalId`.
   */
  requester?: string;
}

/** Where the calls of a thread's open step are made, and for whom. */
export function describeOrigin(
  { threadId, head }: Readonly<ThreadState>,
  principalId: PrincipalId,
): CallOrigin {
  const { requesters } = head;
  const requester = soleRequester({ requesters }, principalId);
  const copies = requesters.map((each) => plainCopy(each));
  return { threadId, requesters: copies, ...(requester === undefined ? {} : { requester }) };
}
