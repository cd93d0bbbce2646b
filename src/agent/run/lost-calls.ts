import type { ClosedBy } from '../../content/user-input.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { describeClosedBy } from '../../policy/same-person.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isAbandoned } from '../../thread/thread-head.ts';
import { readLastHash, type ThreadState } from '../../thread/thread-state.ts';
import { cancelApprovedEvents } from '../calls/close-requests.ts';
import type { AgentContext } from './agent-context.ts';
import { retryTime } from './retry-time.ts';
import { mayStartAgain, findRecovery } from './tool-recovery.ts';

/** Why a run ended before its work was done. */
interface RunFault {
  error: string;
  /** The app's own signal ended it: this is not a failure. */
  isAborted: boolean;
  at: number;
  /** When lost calls may be recovered: a tool in a live process may still return its result. */
  recoverAt: number;
}

/** The end of a run that did not complete, the time of the next attempt, and the calls whose outcome is now unknown. */
export function makeFaultEvents(
  context: AgentContext,
  state: Readonly<ThreadState>,
  { error, isAborted, at, recoverAt }: RunFault,
): ThreadEvent[] {
  const { head } = state;
  const hash = readLastHash(state);
  const failures = (head.failure?.failures ?? 0) + 1;
  const retryAt = isAborted ? undefined : retryTime(context.retry, { failures, at, hash });
  const lost = head.calls.filter(({ status }) => status === 'started');
  const ended: ThreadEvent = {
    type: 'run-ended',
    at,
    error,
    ...(isAborted ? { aborted: true } : {}),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
  return [
    ...(head.run?.isStopping === true ? stopEvents(context, state, at) : [ended]),
    ...lost.map((call) => makeLostEvent(context, call, at, recoverAt)),
  ];
}

/** The event for a call whose outcome is unknown. Recovery starts at `recoverAt`, if its tool can be asked or restarted. */
export function makeLostEvent(
  context: AgentContext,
  call: ToolCallRecord,
  at: number,
  recoverAt: number,
): ThreadEventOf<'call-lost'> {
  const { step, index } = call;
  const isRecoverable =
    findRecovery(context.toolRecovery, call).reconcile !== undefined ||
    mayStartAgain(context, call);
  return { type: 'call-lost', at, step, index, ...(isRecoverable ? { recoverAt } : {}) };
}

/** A thread's log, and its head as it is or would be. */
type StoppedState = Readonly<Pick<ThreadState, 'events' | 'head'>>;

/** The end of a turn that a person stopped: approved calls that have not started are cancelled. */
export function stopEvents(
  context: Pick<AgentContext, 'principalId'>,
  state: StoppedState,
  at: number,
  by = findStopper(context, state),
): ThreadEvent[] {
  return [
    ...cancelApprovedEvents(state.head, { reason: 'The run was stopped.', at, by }),
    { type: 'run-ended', at, stopped: true },
  ];
}

/** Who asked the current run to stop. */
export function findStopper(
  { principalId }: Pick<AgentContext, 'principalId'>,
  { events, head }: StoppedState,
): ClosedBy {
  const asked = events.findLast((event) => event.type === 'stop-requested');
  return asked !== undefined && asked.runId === head.run?.runId
    ? describeClosedBy(asked, principalId)
    : {};
}

/** Records the end of a run whose lease has expired, and that the outcome of its started calls is unknown. */
export async function recordAbandoned(
  context: AgentContext,
  log: ThreadLog,
): Promise<readonly ThreadEvent[]> {
  /* That run may have ended after all, and another one may be abandoned. */
  while (isAbandoned(log.state.head, context.now())) {
    const events = await log.commit((proposal) =>
      proposal.add(...makeAbandonedEvents(context, proposal.state)),
    );
    if (events.length > 0) return events;
  }
  return [];
}

/** The events that `recordAbandoned` records for the thread's current state; none unless a run was abandoned. */
export function makeAbandonedEvents(
  context: AgentContext,
  state: Readonly<ThreadState>,
): ThreadEvent[] {
  const at = context.now();
  if (!isAbandoned(state.head, at)) return [];
  const error = 'The process of the run died or stalled: its lease has expired.';
  return makeFaultEvents(context, state, { error, isAborted: false, at, recoverAt: at });
}
