import type { Agent } from '../../agent/agent.ts';
import { noteCaller } from '../../agent/note-caller.ts';
import type { ThreadCaller } from '../../content/caller.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ClientCall, GateContext } from './gate-context.ts';

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

/** The id of a caller: of this connection, and with the client's own id of the call, which may differ from that of the call it collects. */
export function makeCallerId(
  { generateId }: Pick<GateContext, 'generateId'>,
  { clientCallId }: Pick<ClientCall, 'clientCallId'>,
): string {
  return clientCallId === undefined ? generateId() : `${generateId()} ${clientCallId}`;
}

/** The client's own id of the call that it makes or collects, if it has one. */
export function readClientCallId(caller: Readonly<ThreadCaller> | undefined): string | undefined {
  return caller && /^\S+ (.+)$/s.exec(caller.callerId)?.[1];
}

/* Stands before the id of a caller that was asked whether it still waits, until it says so; alone if no caller was noted before. */
const askedMark = 'asked:';

/** Whether a caller was asked whether it still waits, and has not said so yet. */
export function isAsked(caller: Readonly<ThreadCaller> | undefined): caller is ThreadCaller {
  return caller?.callerId.startsWith(askedMark) === true;
}

/** Whether the log has this caller, or was asked about it. */
function isOwn(caller: Readonly<ThreadCaller> | undefined, id: string): boolean {
  return caller !== undefined && [id, `${askedMark}${id}`, askedMark].includes(caller.callerId);
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
 * Asks the caller of `thread`, at another gate, whether it is still there: unless it says so, it counts as waiting until `until`. A caller that was
 * asked before is not asked again.
 */
export async function askCaller(agent: Agent, thread: AgentThread, until: number): Promise<void> {
  const { caller } = thread;
  await noteCaller(agent, thread, (before) => {
    if (isAsked(before) || !isSameCaller(before, caller)) return undefined;
    return { callerId: `${askedMark}${before?.callerId ?? ''}`, state: 'waiting', until };
  });
}

/** Notes that the caller is still there, if somebody has asked. */
export async function noteWaiting(
  agent: Agent,
  thread: AgentThread,
  { id, until }: { id: string; until: number },
): Promise<void> {
  if (!isAsked(thread.caller)) return;
  await noteCaller(agent, thread, (before) =>
    isAsked(before) && isOwn(before, id) ? { callerId: id, state: 'waiting', until } : undefined,
  );
}

/** Notes that the caller has got the outcome. */
export async function noteInformed(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) =>
    before?.state === 'informed' ? undefined : { callerId: id, state: 'informed' },
  );
}

/** Notes that nobody holds a call whose outcome is unknown. */
export async function noteUnknown(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) =>
    before?.state === 'left' ? undefined : { callerId: id, state: 'left' },
  );
}

/** Notes that the caller has gone, unless the call has another caller. */
export async function noteLeft(agent: Agent, thread: AgentThread, id: string): Promise<void> {
  await noteCaller(agent, thread, (before) => {
    /* A call that was not recorded has nothing to be collected. */
    const hasBegun = thread.revision > 0;
    const isMine = before === undefined || isOwn(before, id);
    return hasBegun && isMine ? { callerId: id, state: 'left' } : undefined;
  });
}

/**
 * Notes that the caller was told that its call is pending, as `isStillPending` says of the thread. Returns false if that is not so any more: the
 * answer came at the same moment.
 */
export async function notePending(
  agent: Agent,
  thread: AgentThread,
  { id, isStillPending }: { id: string; isStillPending: (thread: AgentThread) => boolean },
): Promise<boolean> {
  let isPending = false;
  await noteCaller(agent, thread, (before) => {
    /* Of the same log, which is read again before this is decided again. */
    isPending = isStillPending(thread);
    return isPending && isOwn(before, id) ? { callerId: id, state: 'pending' } : undefined;
  });
  return isPending;
}
