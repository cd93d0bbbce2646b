import type { ThreadCaller } from '../content/caller.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { AgentContext } from './run/agent-context.ts';

/** A change of a thread's caller. */
type CallerChange = Omit<ThreadCaller, 'at'>;

/**
 * Decides the change of the caller, from the previous caller in the log; `undefined` changes nothing. It is called again after a concurrent
 * append.
 */
export type DecideCaller = (before: Readonly<ThreadCaller> | undefined) => CallerChange | undefined;

/** Appends a change of the caller to a log, and resolves whether there was one. */
export async function recordCaller(
  { now }: Pick<AgentContext, 'now'>,
  log: ThreadLog,
  decide: DecideCaller,
): Promise<boolean> {
  const appended = await log.commit((proposal) => {
    const change = decide(proposal.head.caller);
    if (change !== undefined) proposal.add({ type: 'caller-changed', at: now(), ...change });
  });
  return appended.length > 0;
}
