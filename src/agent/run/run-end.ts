import type { LanguageModelUsage } from 'ai';
import { actTerms } from '../../content/act.ts';
import type { StepMetadata } from '../../thread/events.ts';
import {
  isModelDue,
  computeThreadStatus,
  needsRun,
  endsTurn,
  isAbandoned,
  isHeld,
  isRunning,
  isUnfinished,
  isUnstarted,
} from '../../thread/thread-head.ts';
import { type ThreadState, readLastHash } from '../../thread/thread-state.ts';
import type { ClosedBy } from '../../content/user-input.ts';
import { waitForTimer } from '../../content/waiting.ts';
import { describeClosedBy } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { Proposal } from '../../thread/proposal.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { cancelUnaskedCalls, listUnstartedApprovals } from '../calls/close-requests.ts';
import type { AnswerOptions } from '../input/parse-input.ts';
import type { AgentContext } from './agent-context.ts';
import { makeLostEvents } from './lost-calls.ts';
import { retryTime } from './retry-time.ts';

/** The end of a run. See ADR 25. */
export interface RunEnd {
  status:
    | 'completed'
    | 'waiting'
    | 'running'
    | 'indeterminate'
    | 'stuck'
    | 'max-steps'
    | 'cancelled';
  usage: LanguageModelUsage | undefined;
  finishReason: string | undefined;
  /** Provider metadata of the last step. */
  metadata: StepMetadata | undefined;
}

/** The status of a run that left the thread in this state. */
export function describeEndStatus(state: Readonly<ThreadState>, now: number): RunEnd['status'] {
  const { head, pastCalls } = state;
  const status = computeThreadStatus(head, now);
  /* If no run failed, the lease expired before the step; the next run takes it. */
  if (status === 'due') return head.failure === undefined ? 'running' : 'waiting';
  if (status !== 'idle') return status;
  if (isModelDue(head)) return 'max-steps';
  if (head.isStopped) return 'cancelled';
  /* A person ended the turn: the model gets these results with the next message. */
  const isPast = (step: number): boolean => step < head.steps - 1;
  const last = pastCalls.findLast((call) => endsTurn(call) || isPast(call.step));
  return last === undefined || isPast(last.step) ? 'completed' : 'cancelled';
}

/** The reason why a run ended before its work was done. */
interface RunFault {
  error: string;
  /** The app's own signal ended it: this is not a failure. */
  isAborted: boolean;
  at: number;
  /** The time from which lost calls may be recovered: a tool in a live process may still return its result. */
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
  const ended: ThreadEvent = {
    type: 'run-ended',
    at,
    error,
    ...(isAborted ? { aborted: true } : {}),
    ...(retryAt === undefined ? {} : { retryAt }),
  };
  const proposal = new Proposal(state);
  proposal.add(
    ...(head.run?.isStopping === true ? makeStoppedEvents(context, state, at) : [ended]),
  );
  /* Calls that the end holds are not started again. */
  const lost = proposal.head.calls.filter(({ status }) => status === 'started');
  return [
    ...proposal.events,
    ...lost.flatMap((call) => makeLostEvents(context, { head, call }, { at, recoverAt })),
  ];
}

/** A thread's log, and its head as it is or would be. */
type StoppedState = Readonly<Pick<ThreadState, 'events' | 'head'>>;

/**
 * Makes the end of a turn that a person stopped: calls that needed no approval are cancelled, and the end itself holds what people have
 * approved. `by` is the person who stopped it, if no run was asked to.
 */
export function makeStoppedEvents(
  context: Pick<AgentContext, 'principalId'>,
  state: StoppedState,
  at: number,
  by?: ClosedBy,
): ThreadEvent[] {
  const stopper = by ?? findStopper(context, state);
  return [
    ...cancelUnaskedCalls(state.head, { reason: actTerms.stop.reason, at, by: stopper }),
    { type: 'run-ended', at, stopped: true, ...by },
  ];
}

/** Finds who asked the current run to stop. */
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

/** The events that stop the current run; without one, those that end a turn which is due. */
export function makeStopRequest(
  context: AgentContext,
  state: Readonly<ThreadState>,
  by: AnswerOptions,
): ThreadEvent[] {
  const { head } = state;
  const at = context.now();
  if (isRunning(head, at) && head.run !== undefined) {
    const { runId, isStopping = false } = head.run;
    return isStopping ? [] : [{ type: 'stop-requested', at, runId, ...by }];
  }
  const proposal = new Proposal(state);
  proposal.add(...makeAbandonedEvents(context, state));
  /* A run that died while it was stopping ends as stopped. */
  const left = proposal.head;
  const isDue =
    needsRun(left) ||
    left.calls.some((call) => isUnfinished(call) || isUnstarted(call)) ||
    listUnstartedApprovals({ state, head: left }).some((approval) => !isHeld(approval));
  const stopped = { events: state.events, head: left };
  const ending =
    isDue && !left.isStopped
      ? makeStoppedEvents(context, stopped, at, describeClosedBy(by, context.principalId))
      : [];
  return [...proposal.events, ...ending];
}

/* The interval of checks whether a run in another process has ended, in milliseconds. */
const pollMs = 250;
/* The time that a run may take to end after its tools, in milliseconds: another process has to notice, and to append. */
const marginMs = 5_000;

/** Resolves when no run holds the thread, or after waiting long enough for one that does not react. */
export async function waitUntilEnded({ now, events, abortGraceMs }: AgentContext, log: ThreadLog) {
  const { threadId } = log.state;
  const patience = abortGraceMs + marginMs;
  for (let waited = 0; isRunning(log.state.head, now()) && waited < patience; waited += pollMs) {
    const news = new AbortController();
    const stopListening = events.on('run-ended', (event) => {
      if (event.threadId === threadId) news.abort();
    });
    await log.pull();
    if (isRunning(log.state.head, now())) await waitForTimer(pollMs, news.signal);
    stopListening();
  }
}
