import { type Agent, noteCaller } from '../../agent.ts';
import type { ThreadCaller } from '../../content/caller.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ClientCall, GateContext } from './gate-context.ts';

/** Checks whether two records of a call's caller are the same. */
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

/** Makes the id of a caller, from its connection and the client's own id of the call, which may differ from that of the collected call. */
export function makeCallerId(
  { generateId }: Pick<GateContext, 'generateId'>,
  { clientCallId }: Pick<ClientCall, 'clientCallId'>,
): string {
  return clientCallId === undefined ? generateId() : `${generateId()} ${clientCallId}`;
}

/** Reads the client's own id of the call that it makes or collects, if it has one. */
export function readClientCallId(caller: Readonly<ThreadCaller> | undefined): string | undefined {
  return caller && /^\S+ (.+)$/s.exec(caller.callerId)?.[1];
}

/* Prefix of the id of a caller that was asked if it still waits, until it confirms; alone if no caller was noted before. */
const askedMark = 'asked:';

/** Checks whether a caller was asked if it still waits, and has not confirmed it. */
export function isAsked(caller: Readonly<ThreadCaller> | undefined): caller is ThreadCaller {
  return caller?.callerId.startsWith(askedMark) === true;
}

/** Checks whether the log has this caller, confirmed or asked. */
function isOwn(caller: Readonly<ThreadCaller> | undefined, id: string): boolean {
  return caller !== undefined && [id, `${askedMark}${id}`, askedMark].includes(caller.callerId);
}

/** Checks whether the call of a thread runs, and its server has asked a person something. */
export function isServerAsking({ status, activeRequests }: AgentThread): boolean {
  return status === 'running' && activeRequests.some(({ type }) => type === 'question-request');
}

/** Takes a call over from its caller in `thread`. Returns false if another caller was faster. */
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
 * Asks the caller of `thread` at another gate if it is still there: until it confirms, it counts as waiting until `until`. A caller is not
 * asked twice.
 */
export async function askCaller(agent: Agent, thread: AgentThread, until: number): Promise<void> {
  const { caller } = thread;
  await noteCaller(agent, thread, (before) => {
    if (isAsked(before) || !isSameCaller(before, caller)) return undefined;
    return { callerId: `${askedMark}${before?.callerId ?? ''}`, state: 'waiting', until };
  });
}

/** Notes that the caller is still there, if another process has asked. */
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
    /* A call that was not recorded can't be collected. */
    const hasBegun = thread.revision > 0;
    const isMine = before === undefined || isOwn(before, id);
    return hasBegun && isMine ? { callerId: id, state: 'left' } : undefined;
  });
}

/**
 * Notes that the caller was told that its call is pending. Returns false if `isStillPending` is false for the latest thread: the answer
 * came at the same moment.
 */
export async function notePending(
  agent: Agent,
  thread: AgentThread,
  { id, isStillPending }: { id: string; isStillPending: (thread: AgentThread) => boolean },
): Promise<boolean> {
  let isPending = false;
  await noteCaller(agent, thread, (before) => {
    /* Evaluated on the latest log, which is read again before each retry. */
    isPending = isStillPending(thread);
    return isPending && isOwn(before, id) ? { callerId: id, state: 'pending' } : undefined;
  });
  return isPending;
}
