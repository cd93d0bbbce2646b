import { watchThread } from '../../agent.ts';
import { awaitUntilAborted, startTimeLimit } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { type CallRecord, makeCallMessage, readCallRecord } from './call-record.ts';
import { type CallIndex, findCall } from './find-call.ts';
import type { ClientCall, GateContext } from './gate-context.ts';
import { isApproved, reachServer } from './reach-server.ts';
import { isServerAsking, noteLeft, notePending, noteWaiting, takeOver } from './note-call.ts';
import { namePrincipal } from '../../content/request-text.ts';
import { readTenant } from '../../thread/stored-requests.ts';

/** A call of a client, and how to reach the client while the call is held. */
export interface HeldCall {
  call: ClientCall;
  /** Identifies this caller among all possible holders of the call. */
  callerId: string;
  /** Aborts when the caller has gone. */
  gone: AbortSignal;
  /** Called with the id of the call's thread, once that is known; again if another caller was faster. */
  onFound: (threadId: string) => void;
  /**
   * Called once, when the call waits for a person. Returns true to stop holding it, because the client is to call again. `timeIsUp` aborts
   * when the time for that is over.
   */
  onWaiting: (thread: AgentThread, timeIsUp: AbortSignal) => Promise<boolean>;
}

/**
 * The end of holding a call. `over`: the call has an outcome, known or unknown; a known one counts as delivered from now on. `pending`: a
 * person has not decided yet. `unready`: a person has approved it, and its server can't be reached. `running`: it runs in another process,
 * and this gate closes. `left`: the caller has gone.
 */
export type HoldEnd = KnownEnd | { status: 'left' };

interface KnownEnd {
  status: 'over' | 'pending' | 'unready' | 'running';
  thread: AgentThread;
}

/** The time limits of a held call. */
interface HoldTime {
  /** Aborts when its client should be told to call again. */
  timeIsUp: AbortSignal;
  /** The time until which others leave the call to its caller, in milliseconds since 1970. */
  until: number;
}

/* Others leave a call to its caller for this much longer than it is held. */
const marginMs = 10_000;
/* Each attempt that fails means that another caller was faster. */
const maximumAttempts = 50;

/**
 * Takes the call that a client makes, repeats or collects, runs it as far as possible, and holds it until people have decided. A call runs
 * only while it has a caller.
 */
export async function holdCall(index: CallIndex, held: HeldCall): Promise<HoldEnd> {
  const { gate } = index;
  /* Started first, as identifying the call takes time too. */
  const limit = startTimeLimit(gate.holdMs, gate.wait);
  const timeIsUp = AbortSignal.any([limit.signal, gate.closing]);
  const until = gate.agent.now() + gate.holdMs + marginMs;
  try {
    return await holdFound(index, held, { timeIsUp, until });
  } catch (error) {
    if (held.gone.aborted) return { status: 'left' };
    throw error;
  } finally {
    limit.stop();
  }
}

async function holdFound(index: CallIndex, held: HeldCall, time: HoldTime): Promise<HoldEnd> {
  const { gate, here } = index;
  const { call, gone } = held;
  const signal = AbortSignal.any([gone, gate.closing]);
  for (let attempt = 0; attempt < maximumAttempts; attempt += 1) {
    signal.throwIfAborted();
    const { threadId, thread, release } = await findCall(index, call, { gone, signal });
    try {
      held.onFound(threadId);
      const begun =
        thread === undefined ? await prepareCall(index, call, { threadId, signal }) : { thread };
      const end = begun && (await holdBegun(index, held, { ...begun, ...time }));
      /* Done before the release: the next call with these arguments is a new one. */
      if (end?.status === 'over' && end.thread.status === 'idle') here.tell(threadId);
      if (end !== undefined) return end;
    } finally {
      release();
    }
  }
  throw new HoldpointError(
    'revision-conflict',
    `Too many clients called '${call.tool}' with the same arguments at the same time. Call it again.`,
  );
}

/** A thread to hold; or a new one, whose call is not recorded yet. */
type BegunCall = { thread: AgentThread; record?: undefined } | NewCall;

interface NewCall {
  thread: AgentThread;
  record: CallRecord;
  /** Called once it is known if a person has to decide. */
  onDecided: () => void;
}

/**
 * Prepares a new call for an empty thread; `undefined` if another caller has begun one under this id. Throws `not-allowed` for a tool that
 * can't be called now, and for a person with too many waiting calls.
 */
async function prepareCall(
  index: CallIndex,
  call: ClientCall,
  { threadId, signal }: { threadId: string; signal: AbortSignal },
): Promise<NewCall | undefined> {
  const { agent, upstreams, generateId } = index.gate;
  const { tool, upstream, input, client, place, clientCallId } = call;
  const reason = upstreams.whyNot(tool);
  if (reason !== undefined) throw new HoldpointError('not-allowed', reason);
  const thread = await agent.thread(threadId);
  if (thread.revision > 0) return undefined;
  const record: CallRecord = {
    id: generateId(),
    tool,
    upstream,
    input: { ...input },
    client,
    ...(clientCallId !== undefined && { clientCallId }),
    ...(place !== undefined && { place }),
  };
  return { thread, record, onDecided: await admitCall(index, call, signal) };
}

/** Holds a call until its time is up. `undefined` if another caller has taken it. */
async function holdBegun(
  index: CallIndex,
  held: HeldCall,
  begun: BegunCall & HoldTime,
): Promise<KnownEnd | undefined> {
  const { agent, report } = index.gate;
  try {
    return await followCall(index, held, begun);
  } catch (error) {
    await noteLeft(agent, begun.thread, held.callerId).catch((cause: unknown) => {
      report({ problem: 'It could not be recorded that a caller has gone.', error: cause });
    });
    throw error;
  }
}

/** Runs a call, and again after each decision, until it is over or its time is up. Throws when the caller has gone. */
async function followCall(
  index: CallIndex,
  held: HeldCall,
  begun: BegunCall & HoldTime,
): Promise<KnownEnd | undefined> {
  const { gate } = index;
  const { callerId, gone } = held;
  const { timeIsUp, until } = begun;
  const { agent } = gate;
  const waiting = { id: callerId, until };
  let { thread } = begun;
  let shown: { requestId: string | undefined; ends: AbortSignal } | undefined;
  let ready: AbortSignal | undefined;
  let isTaken = false;
  const stay = async (): Promise<void> => {
    await (isTaken ? noteWaiting : takeOver)(agent, thread, waiting);
    isTaken = true;
  };
  if (begun.record !== undefined) {
    if (!(await beginCall(index, held, begun))) return undefined;
  } else if (!isOver(thread) || isUncollected(thread)) {
    isTaken = await takeOver(agent, thread, waiting);
    if (!isTaken) return undefined;
  }
  for (;;) {
    gone.throwIfAborted();
    if (isOver(thread)) return { status: 'over', thread };
    if (isAsking(gate, thread)) {
      await stay();
      const [{ requestId } = {}] = thread.activeRequests;
      if (shown === undefined || shown.requestId !== requestId)
        shown = { requestId, ends: showPage(gate, held, { thread, timeIsUp }) };
      const { ends } = shown;
      if (!ends.aborted) thread = await waitForNews(gate, thread, AbortSignal.any([gone, ends]));
      else if (await notePending(agent, thread, { id: callerId, isStillPending: isWaiting }))
        return { status: 'pending', thread };
    } else if (thread.status === 'running') {
      if (gate.closing.aborted) {
        await noteLeft(agent, thread, callerId);
        return { status: 'running', thread };
      }
      thread = await waitForNews(gate, thread, AbortSignal.any([gone, gate.closing]));
    } else if (
      isApproved(thread) &&
      !(ready ??= await reachServer(gate, held.call.tool, AbortSignal.any([gone, timeIsUp])))
        .aborted
    ) {
      await stay();
      const told = { id: callerId, isStillPending: isApproved };
      if (timeIsUp.aborted && (await notePending(agent, thread, told)))
        return { status: 'unready', thread };
      await gate.wait(gate.pollMs, AbortSignal.any([gone, timeIsUp, ready])).catch(() => {});
      thread = await agent.thread(thread.id);
    } else {
      const { revision } = thread;
      await runCall(index, held, thread);
      if (thread.revision !== revision) continue;
      /* The reason that keeps it from running has to change first. */
      await gate.wait(gate.pollMs, gone).catch(() => {});
      thread = await agent.thread(thread.id);
    }
  }
}

/** Asks the client to show the page while the call is held. The signal aborts when it is no longer held. */
function showPage(
  { report }: GateContext,
  { onWaiting }: HeldCall,
  { thread, timeIsUp }: { thread: AgentThread; timeIsUp: AbortSignal },
): AbortSignal {
  const shown = new AbortController();
  const show = async (): Promise<void> => {
    try {
      if (await onWaiting(thread, timeIsUp)) shown.abort();
    } catch (error) {
      report({ problem: 'The page of a call could not be shown.', error });
    }
  };
  void show();
  return AbortSignal.any([timeIsUp, shown.signal]);
}

/** Checks whether a person has to decide or to answer before the call continues. */
function isAsking(gate: GateContext, thread: AgentThread): boolean {
  return isWaiting(thread) && !(thread.status === 'waiting' && isOverdue(gate, thread));
}

function isWaiting(thread: AgentThread): boolean {
  return thread.status === 'waiting' || isServerAsking(thread);
}

/** Checks whether the call of a thread has an outcome, known or unknown. */
function isOver({ status }: AgentThread): boolean {
  return status === 'idle' || status === 'indeterminate';
}

/** Checks whether the call of a thread has an outcome that its caller has not got: of several that collect it, one gets it. */
function isUncollected({ status, caller }: AgentThread): boolean {
  return status === 'idle' && caller?.state !== 'informed';
}

/** Checks whether a deadline of the thread has passed, such as the expiry of its request. */
function isOverdue({ agent }: GateContext, { nextDeadline }: AgentThread): boolean {
  return nextDeadline !== undefined && nextDeadline <= agent.now();
}

/** Returns the thread after its next change, or unchanged once the signal aborts. */
async function waitForNews(
  { agent, wait, pollMs }: GateContext,
  thread: AgentThread,
  signal: AbortSignal,
): Promise<AgentThread> {
  const { id } = thread;
  /* Stores send no notice of this, as no worker has to act on it. */
  const ended = new AbortController();
  const stopListening = agent.on('run-ended', ({ threadId }) => {
    if (threadId === id) ended.abort();
  });
  const until = AbortSignal.any([signal, ended.signal]);
  try {
    for await (const changed of watchThread(agent, thread, { signal: until, wait, pollMs }))
      return changed;
    return signal.aborted ? thread : await agent.thread(id);
  } finally {
    stopListening();
  }
}

/* The same for all calls, so that a thread takes one message and two clients can't begin two calls in it. */
const messageId = 'call';

/** Records a call and runs it; returns false if another caller has begun one in this thread. */
async function beginCall(
  index: CallIndex,
  held: HeldCall,
  { thread, record, onDecided }: NewCall,
): Promise<boolean> {
  const { agent } = index.gate;
  /* A call that needs a person's decision ends the run. */
  const stopListening = agent.on('call-started', ({ threadId }) => {
    if (threadId === thread.id) onDecided();
  });
  try {
    await runCall(index, held, thread, record);
  } catch (error) {
    const recorded = readCallRecord(await agent.thread(thread.id));
    if (recorded === undefined || recorded.id === record.id) throw error;
    return false;
  } finally {
    stopListening();
    onDecided();
  }
  return readCallRecord(thread)?.id === record.id;
}

/** Runs a call as far as possible, or until its server asks a person. Once begun, it continues without the caller. */
async function runCall(
  { gate: { agent }, here }: CallIndex,
  { call: { principal }, gone }: HeldCall,
  thread: AgentThread,
  record?: CallRecord,
): Promise<void> {
  gone.throwIfAborted();
  const asked = Promise.withResolvers<void>();
  const stopListening = agent.on('request-opened', ({ threadId, event: { beside } }) => {
    if (threadId === thread.id && beside !== undefined) asked.resolve();
  });
  const by = { channel: 'mcp', principal };
  const run =
    record === undefined
      ? agent.run([], thread, by)
      : agent.run([makeCallMessage(record)], thread, { ...by, messageId });
  const running = here.track(run);
  await awaitUntilAborted(Promise.race([running, asked.promise]), gone).finally(stopListening);
}

/**
 * Counts a call of a person until the returned function is called. First waits until it is known for enough of their other calls if a
 * person has to decide. Throws `not-allowed` if too many of them wait for a person.
 */
async function admitCall(
  { gate: { agent, store, maximumWaiting }, here: { undecided } }: CallIndex,
  { principal }: ClientCall,
  signal: AbortSignal,
): Promise<() => void> {
  const requester = namePrincipal(principal);
  const tenant = readTenant(principal);
  const person = JSON.stringify([tenant, requester]);
  const admit = async (): Promise<(() => void) | undefined> => {
    const waiting = await store.requests?.count({
      state: 'open',
      kind: 'approval',
      at: agent.now(),
      agent: agent.name ?? null,
      ...(tenant !== null && { tenant }),
      ...(requester !== undefined && { requester }),
    });
    /* In parallel: other calls are admitted too. */
    if ((waiting ?? 0) + undecided.count(person) < maximumWaiting) return undecided.begin(person);
    if ((waiting ?? 0) < maximumWaiting) return undefined;
    throw new HoldpointError(
      'not-allowed',
      `Not called: ${maximumWaiting} calls of yours wait for a person already, so nobody was asked about this one. Wait until some of them are decided, and collect their results first.`,
    );
  };
  const admitted = await admit();
  if (admitted !== undefined) return admitted;
  return undecided.inTurn(person, async () => {
    for (;;) {
      /* Subscribed before the store is read, so that nothing is missed in between. */
      const decided = undecided.whenDecided(person);
      const admittedLater = await admit();
      if (admittedLater !== undefined) return admittedLater;
      await awaitUntilAborted(decided, signal);
    }
  });
}
