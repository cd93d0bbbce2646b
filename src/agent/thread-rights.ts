import type { RequestRights } from '../content/request-rights.ts';
import { HoldpointError } from '../errors.ts';
import { findOpenRequest } from '../thread/open-requests.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { makeNoRights } from '../content/no-rights.ts';
import { findRights } from './acts/request-rights.ts';
import type { AnswerOptions } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { ThreadHandles } from './thread-handles.ts';

/** A request by its ids. */
export type RequestReference = Pick<RequestRights, 'requestId' | 'threadId'>;

/** Lists what a person may do with requests, as their threads have them. Reads each thread once, and writes nothing. */
export async function listRights(
  context: AgentContext,
  threads: ThreadHandles,
  requests: readonly RequestReference[],
  by: AnswerOptions,
): Promise<RequestRights[]> {
  const logs = new Map<string, Promise<ThreadLog>>();
  return Promise.all(
    requests.map(async (reference) => {
      const reading = logs.get(reference.threadId) ?? threads.read(reference.threadId);
      logs.set(reference.threadId, reading);
      return findLoggedRights(context, await reading, reference, by);
    }),
  );
}

/** Finds what a person may do with a request, as the log has it. */
export async function findLoggedRights(
  context: AgentContext,
  { state: { threadId, head } }: ThreadLog,
  { requestId }: Pick<RequestReference, 'requestId'>,
  by: AnswerOptions,
): Promise<RequestRights> {
  const open = findOpenRequest(head, requestId);
  if (open === undefined) return makeNoRights({ requestId, threadId }, 'closed');
  if (head.parent !== undefined) return makeNoRights({ requestId, threadId }, 'child-thread');
  return findRights(context, { threadId, head }, open, by);
}

/**
 * Finds a person's rights to a request of a thread, which is read for it. None if the thread, or that of the sub-agent which asks, is not
 * this agent's or can't be read: one damaged thread must not hide all requests.
 */
export async function findThreadRights(
  context: AgentContext,
  threads: ThreadHandles,
  reference: RequestReference,
  by: AnswerOptions,
): Promise<RequestRights> {
  let log: ThreadLog | undefined;
  try {
    log = await threads.read(reference.threadId);
    return await findLoggedRights(context, log, reference, by);
  } catch (error) {
    if (HoldpointError.isInstance(error)) return makeNoRights(reference, 'closed');
    /* The store can't be read: that is no matter of one thread. */
    if (log === undefined) throw error;
    const problem = 'That of a sub-agent threw an error.';
    const { threadId } = reference;
    context.report({ threadId, setting: 'mayAnswer', kind: 'error', problem, error });
    return makeNoRights(reference, 'not-approver');
  }
}
