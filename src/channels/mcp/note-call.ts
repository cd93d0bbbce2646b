import type { Agent } from '../../agent/agent.ts';
import { noteCaller } from '../../agent/note-caller.ts';
import type { ThreadCaller } from '../../content/caller.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/** Whether what the log says of a call's caller is the same. */
export function isSameCaller(
  one: Readonly<ThreadCaller> | undefined,
  other: Readonly<ThreadCaller> | undefined,
): boolean {
  return (
    one?.callerId === other?.callerId &&
    one?.state === other?.state &&
    one?.until === other?.until &&
    one?.at === other?.at
  );
}

/** Whether the call of a thread runs, and its server has asked a person something. */
export function isServerAsking({ status, activeRequests }: AgentThread): boolean {
  return status === 'running' && activeRequests.some(({ type }) => type === 'question-request');
}

/** Takes a call over from the caller that it has in `thread`. Returns false if another caller was faster. */
export async function takeOver(
  agent: Agent,
  thread: AgentThread,
  { id, until }: { id: string; until: number },
): Promise<boolean> {
  const { caller } = thread;
  return noteCaller(agent, thread, (before) =>
    isSameCaller(before, caller) ? { callerId: id, state: 'waiting', until } : undefined,
  );
}

/**
 * Asks the caller that waits in `thread`, at another gate, whether it still does: it counts as waiting until `until` at the latest, unless it
 * says so again. Returns until when it counts.
 */
export async function askCaller(agent: Agent, thread: AgentThread, until: number): Promise<number> {
  let latest = until;
  const { callerId: id } = thread.caller ?? {};
  await noteCaller(agent, thread, (before) => {
    if (before?.state !== 'waiting' || before.callerId !== id) return undefined;
    /* Earlier than it was, so that the caller notices. */
    latest = Math.min(until, (before.until ?? until) - 1);
    return { callerId: before.callerId, state: 'waiting', until: latest };
  });
  return latest;
}

/** Notes that the caller still waits, if somebody has asked. */
export async function noteWaiting(
  agent: Agent,
  thread: AgentThread,
  { id, until }: { id: string; until: number },
): Promise<void> {
  const { caller } = thread;
  if (caller?.callerId !== id || caller.until === until) return;
  await noteCaller(agent, thread, (before) =>
    before?.callerId === id && before.state === 'waiting'
      ? { callerId: id, state: 'waiting', until }
      : undefined,
  );
}

/** Notes that the caller has got the outcome. */
export async function noteInformed(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) =>
    before?.state === 'informed' ? undefined : { callerId: id, state: 'informed' },
  );
}

/** Notes that nobody holds the call any more, whose outcome is unknown. */
export async function noteUnknown(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) =>
    before?.state === 'left' ? undefined : { callerId: id, state: 'left' },
  );
}

/** Notes that the caller has gone, unless the call has another caller by now. */
export async function noteLeft(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) => {
    /* A call that was not recorded has nothing to be collected. */
    const hasBegun = thread.revision > 0;
    const isMine = before === undefined || before.callerId === id;
    return hasBegun && isMine ? { callerId: id, state: 'left' } : undefined;
  });
}

/**
 * Notes that the caller was told that a person has not decided yet. Returns false if that is not so any more: the answer came at the same
 * moment.
 */
export async function notePending(agent: Agent, thread: AgentThread, id: string): Promise<boolean> {
  let isPending = false;
  await noteCaller(agent, thread, (before) => {
    /* Of the same log, which is read again before this is decided again. */
    isPending = thread.status === 'waiting' || isServerAsking(thread);
    return isPending && before?.callerId === id ? { callerId: id, state: 'pending' } : undefined;
  });
  return isPending;
}
