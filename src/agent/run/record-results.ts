import { callGuarded } from '../../content/call-guarded.ts';
import type { CallPlace } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { equalJson } from '../../policy/digest.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { awaitedCall, isSamePlace } from '../../thread/thread-head.ts';
import { endEvents } from '../calls/close-requests.ts';
import type { Execution } from '../calls/execution.ts';
import type { AgentContext } from './agent-context.ts';
import { LeaseLost } from './lease.ts';
import { lostEvent } from './lost-calls.ts';

/** An attempt of a call that was executed here. */
export interface Attempt extends CallPlace {
  attempt: number;
}

/** An attempt that has finished, and its result. */
export interface Finished {
  attempt: Attempt;
  execution: Execution;
}

/**
 * Records results through `commit`, which holds the lease, and retries if the store fails. Throws `LeaseLost` when another run has the
 * thread; after any other failure the app gets the results in `onUnrecorded`.
 */
export async function recordResults(
  context: AgentContext,
  log: ThreadLog,
  finished: readonly Finished[],
  commit: (make: (proposal: Proposal) => ThreadEvent[]) => Promise<void>,
): Promise<void> {
  const record = async (): Promise<void> =>
    commit((proposal) => resultEvents(context, proposal, finished));
  try {
    await withRetries(record);
  } catch (error) {
    if (!(error instanceof LeaseLost)) passUnrecorded(context, log, finished, error);
    throw error;
  }
}

/** Records a result that its run no longer waits for. Never rejects. */
export async function recordLate(
  context: AgentContext,
  log: ThreadLog,
  finished: Finished,
): Promise<void> {
  const record = async (): Promise<unknown> =>
    log.commitFact((proposal) => {
      proposal.add(...resultEvents(context, proposal, [finished]));
    });
  try {
    await withRetries(record);
  } catch (error) {
    passUnrecorded(context, log, [finished], error);
  }
}

/** The events that record results. A result of a call that has ended in another way, or was started again, is kept as a late one. */
function resultEvents(
  context: AgentContext,
  proposal: Proposal,
  finished: readonly Finished[],
): ThreadEvent[] {
  const { head } = proposal;
  const at = context.now();
  return finished.flatMap(({ attempt, execution }): ThreadEvent[] => {
    const { step, index } = attempt;
    const call = awaitedCall(head, attempt);
    if (call === undefined) return lateEvents(proposal, { attempt, execution }, at);
    if (execution.type === 'ended') {
      const { outcome, requests } = execution;
      const past = requests?.(proposal, at) ?? [];
      const ended = { type: 'call-ended', at, step, index, outcome } as const;
      return [...past, ...endEvents(head, ended, { before: past })];
    }
    if (execution.type === 'lost') {
      if (call.status !== 'started') return [];
      const { error } = execution;
      const lost = lostEvent(context, call, at, at + context.leaseMs);
      return [error === undefined ? lost : { ...lost, error }];
    }
    if (call.status === 'deferred') return [];
    if (execution.type === 'delegated') return execution.events(proposal, at);
    const { expiresAfterMs } = execution;
    const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at + expiresAfterMs };
    return [{ type: 'call-deferred', at, step, index, ...expiry }];
  });
}

/* An outcome that was delivered and is then returned too has already been recorded. */
function lateEvents(
  { state, head }: Proposal,
  { attempt: { attempt, ...place }, execution }: Finished,
  at: number,
): ThreadEvent[] {
  const calls = [...head.calls, ...head.newlyPast.calls, ...state.pastCalls];
  const call = calls.find((each) => isSamePlace(each, place));
  if (call === undefined || execution.type !== 'ended') return [];
  const { outcome } = execution;
  if (call.attempts === attempt && call.outcome !== undefined && equalJson(call.outcome, outcome))
    return [];
  return [{ type: 'late-result', at, ...place, attempt, outcome }];
}

/** Passes results that the store does not accept to the app. */
function passUnrecorded(
  { onUnrecorded }: AgentContext,
  { state }: ThreadLog,
  finished: readonly Finished[],
  error: unknown,
): void {
  for (const { attempt, execution } of finished) {
    const call = awaitedCall(state.head, attempt);
    if (call === undefined || execution.type !== 'ended') continue;
    const unrecorded = { threadId: state.threadId, call, outcome: execution.outcome, error };
    void callGuarded(onUnrecorded, unrecorded);
  }
}

/* Milliseconds before each retry; together well under a lease. */
const pauses = [50, 200, 1_000, 5_000];

/** Retries a write after growing pauses. Throws the last error, or at once one that a retry can't change. */
async function withRetries<RESULT>(write: () => Promise<RESULT>): Promise<RESULT> {
  for (const pause of pauses) {
    try {
      return await write();
    } catch (error) {
      if (error instanceof LeaseLost || HoldpointError.isInstance(error)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }
  return write();
}
