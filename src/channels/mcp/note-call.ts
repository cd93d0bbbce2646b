import type { Agent } from '../../agent/agent.ts';
import { noteCaller } from '../../agent/note-caller.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/** Takes a call over from the caller that it has in `thread`. Returns false if another caller was faster. */
export async function takeOver(
  agent: Agent,
  thread: AgentThread,
  { id, until }: { id: string; until: number },
): Promise<boolean> {
  const { caller } = thread;
  return noteCaller(agent, thread, (before) =>
    before?.callerId === caller?.callerId &&
    before?.at === caller?.at &&
    before?.state === caller?.state
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
    isPending = thread.status === 'waiting';
    return isPending && before?.callerId === id ? { callerId: id, state: 'pending' } : undefined;
  });
  return isPending;
}
