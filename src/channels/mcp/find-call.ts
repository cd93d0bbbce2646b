import { digestViewer } from '../../agent/known-people.ts';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { toCanonicalText } from '../../policy/digest.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { readCallRecord } from './call-record.ts';
import type { CallsHere } from './calls-here.ts';
import type { ClientCall, GateContext } from './gate-context.ts';
import { askCaller, isSameCaller } from './note-call.ts';

/** Where a call is: in this thread, which the caller takes over; or, without a thread, nowhere, and a new one gets this id. */
export interface FoundCall {
  threadId: string;
  thread?: AgentThread;
}

/** What is known of calls. */
export interface CallIndex {
  gate: GateContext;
  here: CallsHere;
}

/* For so long after the last that was heard of a call it is found again. */
const foundMs = 28 * 24 * 3_600_000;
/* How many earlier calls of the same caller with the same arguments are looked at. */
const maximumLooks = 8;
const fingerprintLength = 22;
/* Equal calls count down from here, so that a store, which lists threads by id, lists the latest one first. */
const firstNumber = 999_999_999;
/* After this time without a change, in milliseconds, nobody works on a call that no run holds. */
const silenceMs = 2_000;

/**
 * Finds the call that a client repeats or collects: one with the client's own id; or else the latest one with the same arguments that nobody
 * else holds and whose result the client has not got. Before a call whose result it has got, only calls that it was told to make again count.
 */
export async function findCall(
  index: CallIndex,
  call: ClientCall,
  signal: AbortSignal,
): Promise<FoundCall> {
  const { gate, here } = index;
  const prefix = await fingerprintCall(gate, call);
  const now = gate.agent.now();
  const after = { threadId: prefix, updatedAt: 0 };
  const listed = await gate.store.list({ after, limit: maximumLooks });
  const earlier = listed.filter(({ threadId }) => threadId.startsWith(prefix));
  const { clientCallId } = call;
  let isOver = false;
  for (const { threadId, updatedAt } of earlier) {
    if (updatedAt + foundMs <= now) continue;
    await awaitUntilAborted(here.whenLeft(threadId), signal);
    const thread = await gate.agent.thread(threadId);
    if (clientCallId !== undefined && readCallRecord(thread)?.clientCallId === clientCallId)
      return { threadId, thread };
    /* One that is pending was held at the same time as a later one. */
    const mayCount = !isOver || thread.caller?.state === 'pending';
    const found: Judgement = mayCount ? await judgeCall(index, thread, signal) : 'over';
    if (found === 'over') isOver = true;
    else if (found !== 'other') return { threadId, thread: found };
  }
  /* The same for all gates that look now: one of them begins the call, and the others look again. */
  const [latest = firstNumber + 1] = earlier.map(({ threadId }) =>
    Number(threadId.slice(prefix.length)),
  );
  return { threadId: here.findFree(prefix, latest - 1) };
}

/** The beginning of the thread ids of a call: the same for every repetition by the same caller, and for no other call. */
async function fingerprintCall({ agent }: GateContext, call: ClientCall): Promise<string> {
  const { client, place, upstream, tool, input, principal } = call;
  /* Gates of several names, and in front of several servers, may share a store. */
  const text = toCanonicalText([agent.name ?? null, client, place ?? null, upstream, tool, input]);
  const digest = await digestViewer(agent, `holdpoint/gate-call/v1\0${text}`, principal);
  if (digest === undefined) throw new TypeError('The principal of a caller must be JSON.');
  return `call-${digest.slice(0, fingerprintLength)}-`;
}

/** The thread, if its call is the one that the client makes now; `other`: it is another caller's; `over`: the client has got its result. */
type Judgement = AgentThread | 'other' | 'over';

async function judgeCall(
  index: CallIndex,
  thread: AgentThread,
  signal: AbortSignal,
): Promise<Judgement> {
  const { gate, here } = index;
  const { id, caller, revision } = thread;
  /* A deleted thread. */
  if (revision === 0) return 'other';
  if (caller?.state === 'informed' || here.isTold(id)) return 'over';
  if (here.isHeld(id)) return 'other';
  const isFree = caller?.state === 'pending' || caller?.state === 'left';
  if (isFree || thread.status === 'indeterminate') return thread;
  const isHeld = doesWait(gate, caller);
  if (isHeld && thread.status === 'waiting') return askHolder(index, thread, signal);
  if (!isHeld && caller !== undefined && thread.status !== 'running') return thread;
  return watchWork(index, thread, signal);
}

function doesWait({ agent }: GateContext, caller: AgentThread['caller']): boolean {
  return caller !== undefined && (caller.until ?? 0) > agent.now();
}

/**
 * A call that waits for a person and has a caller at another gate, which is asked whether it still holds the call. It says so at its next look, and
 * the call is another one; a gate that was killed says nothing.
 */
async function askHolder(
  index: CallIndex,
  asked: AgentThread,
  signal: AbortSignal,
): Promise<Judgement> {
  const { gate } = index;
  const { id, caller: holder } = asked;
  const until = await askCaller(gate.agent, asked, gate.agent.now() + gate.patienceMs);
  for (;;) {
    const thread = await lookAgain(gate, id, signal);
    const { caller, status } = thread;
    const isSame = caller?.callerId === holder?.callerId && caller?.state === 'waiting';
    if (!isSame || status !== 'waiting' || !doesWait(gate, caller))
      return judgeCall(index, thread, signal);
    if ((caller.until ?? 0) > until) return 'other';
  }
}

/**
 * A call that another process works on, or has just begun to. It is this one if that process has died: then nothing is appended for a while, and
 * the lease of its run expires. A client whose gate was killed must be told of its lost call, and not begin another one beside it.
 */
async function watchWork(
  index: CallIndex,
  opened: AgentThread,
  signal: AbortSignal,
): Promise<Judgement> {
  const { gate } = index;
  let { revision } = opened;
  for (let quietMs = gate.pollMs; ; quietMs += gate.pollMs) {
    const thread = await lookAgain(gate, opened.id, signal);
    const { status, caller } = thread;
    if (status === 'indeterminate') return thread;
    if (!isSameCaller(caller, opened.caller)) return judgeCall(index, thread, signal);
    if (thread.revision !== revision && status === 'running') return 'other';
    if (thread.revision !== revision) quietMs = 0;
    ({ revision } = thread);
    if (status !== 'running' && quietMs >= silenceMs) return thread;
  }
}

async function lookAgain(
  { agent, wait, pollMs }: GateContext,
  threadId: string,
  signal: AbortSignal,
): Promise<AgentThread> {
  await wait(pollMs, signal);
  signal.throwIfAborted();
  return agent.thread(threadId);
}
