import { digestViewer } from '../../agent.ts';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { toCanonicalText } from '../../policy/digest.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadSummary } from '../../thread/thread-store.ts';
import { readCallRecord } from './call-record.ts';
import type { CallsHere } from './calls-here.ts';
import type { ClientCall, GateContext } from './gate-context.ts';
import { askCaller, isAsked, isSameCaller, readClientCallId } from './note-call.ts';

/** The place of a call: this thread, which the caller takes over; or, without a thread, none, and a new thread gets this id. */
export interface FoundCall {
  threadId: string;
  thread?: AgentThread;
  /** Releases the call, which has a caller here until then. */
  release: () => void;
}

/** The known calls. */
export interface CallIndex {
  gate: GateContext;
  here: CallsHere;
}

/* A call is found again for this long after its last event. */
const foundMs = 28 * 24 * 3_600_000;
/*
 * For this long after its result was sent, a call with the same id is a repetition. A model with cached answers sends the same id again
 * days later.
 */
const repeatedMs = 3_600_000;
/* The number of a caller's earlier equal calls to read in any state; of the others, only those that are not over are read. */
const maximumLooks = 8;
/* The maximum number of the others: `maximumWaiting` may be infinite. */
const mostListed = 1_000;
const fingerprintLength = 22;
/* Equal calls count down from here, so that a store, which lists by id, lists the latest first. */
const firstNumber = 999_999_999;
/* If a call that no run holds has not changed for this long, in milliseconds, its caller is asked whether it is still there. */
const silenceMs = 2_000;

/**
 * Finds the call that a client repeats or collects, and holds it here, until `gone` aborts: one with the client's own id; or else the
 * latest one with the same arguments that has no other caller and whose result the client has not got. Among calls older than one whose
 * result it has got, only those that it was told to repeat count. See ADR 68.
 */
export async function findCall(
  index: CallIndex,
  call: ClientCall,
  { gone, signal }: { gone: AbortSignal; signal: AbortSignal },
): Promise<FoundCall> {
  const { gate, here } = index;
  const { clientCallId } = call;
  const hold = (threadId: string): (() => void) => here.hold(threadId, { gone, clientCallId });
  const prefix = await fingerprintCall(gate, call);
  const { latest, threads } = await openEarlier(index, prefix, signal);
  const repeated = threads.find((thread) => isRepeated(gate, thread, clientCallId));
  if (repeated !== undefined)
    return { threadId: repeated.id, thread: repeated, release: hold(repeated.id) };
  const last = threads.findIndex((thread) => glanceAt(index, thread) === 'over');
  /* A pending call was held at the same time as a later one. */
  const open = threads.filter(
    ({ caller }, position) => last === -1 || position < last || caller?.state === 'pending',
  );
  const free = open.findIndex((thread) => glanceAt(index, thread) === thread);
  /* In parallel: each may need a question to another gate. */
  const asked = open.slice(0, free === -1 ? open.length : free + 1);
  const judging = asked.map(async (thread) => judgeCall(index, thread, signal));
  await Promise.allSettled(judging);
  let isOver = false;
  for (const [position, each] of judging.entries()) {
    const found = await each;
    if (found === 'over') isOver = true;
    if (found === 'over' || found === 'other') continue;
    if (isOver && open[position]?.caller?.state !== 'pending') continue;
    /* Another caller here has just taken it: search again. */
    if (here.isHeld(found.id)) return findCall(index, call, { gone, signal });
    return { threadId: found.id, thread: found, release: hold(found.id) };
  }
  /* All gates that search now choose the same id: one of them begins the call, and the others search again. */
  const threadId = here.findFree({ prefix, from: latest - 1, clientCallId });
  return { threadId, release: hold(threadId) };
}

/** Opens the earlier calls with a prefix that may match, latest first, and returns the number of the latest one. */
async function openEarlier(
  { gate: { agent, store, maximumWaiting }, here }: CallIndex,
  prefix: string,
  signal: AbortSignal,
): Promise<{ latest: number; threads: AgentThread[] }> {
  const earlier: ThreadSummary[] = [];
  for (const limit of [maximumLooks, Math.min(maximumWaiting, mostListed)]) {
    const after = earlier.at(-1) ?? { threadId: prefix, updatedAt: 0 };
    const listed = await store.list({ after, limit });
    const own = listed.filter(({ threadId }) => threadId.startsWith(prefix));
    earlier.push(...own);
    if (own.length < limit) break;
  }
  const now = agent.now();
  const threads: AgentThread[] = [];
  for (const [position, { threadId, updatedAt, status }] of earlier.entries()) {
    if (updatedAt + foundMs <= now || (position >= maximumLooks && status === 'idle')) continue;
    await awaitUntilAborted(here.whenLeft(threadId), signal);
    threads.push(await agent.thread(threadId));
  }
  const [latest = firstNumber + 1] = earlier.map(({ threadId }) =>
    Number(threadId.slice(prefix.length)),
  );
  return { latest, threads };
}

/** Checks whether the client repeats the call of a thread, by its own id of it. */
function isRepeated(
  { agent }: GateContext,
  thread: AgentThread,
  clientCallId: string | undefined,
): boolean {
  const { caller } = thread;
  if (clientCallId === undefined) return false;
  /* The id of the caller that collected it last and got the result. */
  const latest = readClientCallId(caller) ?? readCallRecord(thread)?.clientCallId;
  if (latest !== clientCallId) return false;
  return caller?.state !== 'informed' || agent.now() < caller.at + repeatedMs;
}

/** Makes the beginning of a call's thread ids: the same for every repetition by the same caller, and for no other call. */
async function fingerprintCall({ agent }: GateContext, call: ClientCall): Promise<string> {
  const { client, place, upstream, tool, input, principal } = call;
  /* Gates of several names, and in front of several servers, may share a store. */
  const text = toCanonicalText([agent.name ?? null, client, place ?? null, upstream, tool, input]);
  const digest = await digestViewer(agent, `holdpoint/gate-call/v1\0${text}`, principal);
  if (digest === undefined) throw new TypeError('The principal of a caller must be JSON.');
  return `call-${digest.slice(0, fingerprintLength)}-`;
}

/** The thread, if its call is the client's; `other`: it is another caller's; `over`: the client has got its result. */
type Judgement = AgentThread | 'other' | 'over';

/** Judges a call by the log and this process; `undefined` if its caller may be at another gate. */
function glanceAt({ here }: CallIndex, thread: AgentThread): Judgement | undefined {
  const { id, caller, revision, status } = thread;
  /* A deleted thread. */
  if (revision === 0) return 'other';
  if (caller?.state === 'informed' || here.isTold(id)) return 'over';
  if (here.isHeld(id)) return 'other';
  if (caller?.state === 'pending' || caller?.state === 'left') return thread;
  return status === 'indeterminate' ? thread : undefined;
}

async function judgeCall(
  index: CallIndex,
  thread: AgentThread,
  signal: AbortSignal,
): Promise<Judgement> {
  const seen = glanceAt(index, thread);
  if (seen !== undefined) return seen;
  const isHeld = thread.caller !== undefined && thread.status === 'waiting';
  return (isHeld ? askHolder : watchWork)(index, thread, signal);
}

/**
 * Asks the caller of a call at another gate if it is still there: it waits for a person, or gets its result. It confirms at its next poll,
 * and the call is a different one; a killed gate doesn't answer.
 */
async function askHolder(
  index: CallIndex,
  asked: AgentThread,
  signal: AbortSignal,
): Promise<Judgement> {
  const { gate } = index;
  const { agent, patienceMs, pollMs } = gate;
  await askCaller(agent, asked, agent.now() + patienceMs);
  /* Counted without a clock: those of two gates may differ, and a machine's clock jumps after sleep. */
  for (let waitedMs = pollMs; ; waitedMs += pollMs) {
    const thread = await lookAgain(gate, asked.id, signal);
    const { caller, status } = thread;
    if (!isAsked(caller))
      return caller?.state === 'waiting' ? 'other' : judgeCall(index, thread, signal);
    if (status === 'running' || status === 'indeterminate') return judgeCall(index, thread, signal);
    if (waitedMs >= patienceMs) return thread;
  }
}

/**
 * Watches a call that another process works on, or has just begun. It is this client's call if that process has died: then nothing is
 * appended for a while, and its lease expires, or it does not answer. A client of a killed gate must learn of its lost call, and not begin
 * a second one.
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
    if (status !== 'running' && quietMs >= silenceMs) return askHolder(index, thread, signal);
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
