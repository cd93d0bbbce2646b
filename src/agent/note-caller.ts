import type { ThreadCaller } from '../content/caller.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { Agent } from './agent.ts';
import type { AgentContext } from './run/agent-context.ts';

/** What becomes of a thread's caller. */
type CallerChange = Omit<ThreadCaller, 'at'>;

/**
 * Decides what becomes of the caller, from what the log says of the one before; `undefined` changes nothing. It is called again after a
 * concurrent append.
 */
export type DecideCaller = (before: Readonly<ThreadCaller> | undefined) => CallerChange | undefined;

/** An agent that records what becomes of a thread's caller. */
interface CallerNoting {
  [notingCaller](thread: AgentThread, decide: DecideCaller): Promise<boolean>;
}

/** The key of the method that records it, for channels whose callers come from outside. Registered, so that it works across two copies of the package. */
export const notingCaller: unique symbol = Symbol.for('holdpoint.noting-caller');

function isNoting(agent: object): agent is CallerNoting {
  return notingCaller in agent;
}

/**
 * Records what becomes of a thread's caller, and resolves whether anything did, once that is durable. Needs no run. Rejects as every append does,
 * with `wrong-agent` for a thread of another agent.
 */
export async function noteCaller(
  agent: Agent<unknown>,
  thread: AgentThread,
  decide: DecideCaller,
): Promise<boolean> {
  if (!isNoting(agent)) throw new TypeError('Pass the agent itself, and no object around it.');
  return agent[notingCaller](thread, decide);
}

/** Appends it to a log. */
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
