import { unlessAborted } from '../../content/waiting.ts';
import type { RunCause } from '../../policy/run-context.ts';
import { type Decide, Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  listDueCalls,
  isStoppedBeforeReply,
  needsRun,
  computeNextDeadline,
  computeThreadStatus,
  isAbandoned,
  isRunning,
  isUnfinished,
  isExpired,
} from '../../thread/thread-head.ts';
import { readLastHash } from '../../thread/thread-state.ts';
import {
  checkStartableCalls,
  type CheckedCalls,
  takeTurns,
  listStillDue,
  listResumes,
} from '../calls/start-calls.ts';
import type { FollowUps } from '../calls/expire-requests.ts';
import { makeDecisionInput } from '../calls/decide-calls.ts';
import { ignoreGrantEnded } from '../calls/find-grant.ts';
import type { MadeInputs } from '../calls/made-input.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { decideInput } from '../input/decide-input.ts';
import type { AdmittedInput } from '../input/admitted-input.ts';
import { prepareExpiry } from '../input/prepare-expiry.ts';
import type { AgentContext } from './agent-context.ts';
import type { Lease } from './lease.ts';
import { recordAbandoned } from './run-end.ts';
import { makeFailedRecoveryEvents, reconcileCalls, makeRestartEvents } from './lost-calls.ts';
import type { RunOptions } from './run-options.ts';

/** A run that begins. */
export interface Opening {
  log: ThreadLog;
  tools: ToolDefinitions;
  options: RunOptions<unknown>;
  cause: RunCause;
  lease: Lease;
  signal: AbortSignal;
  /** Keeps the values that schemas have just made for the calls that may start. */
  made: MadeInputs;
}

/**
 * Begins a run: records how an abandoned run ended, then the input, and takes the thread if there is work to do. Returns the events of the
 * last append; `undefined` if a scheduler woke too early, and nothing was recorded. `onEvents` receives those of earlier appends.
 */
export async function openRun(
  context: AgentContext,
  run: Opening,
  input: AdmittedInput,
  onEvents: ((events: readonly ThreadEvent[]) => void) | undefined,
): Promise<readonly ThreadEvent[] | undefined> {
  const { log, tools, options, signal } = run;
  const isAnyExpired = log.state.head.openRequests.some(
    ({ request }) => request.expiresAt !== undefined && isExpired(request, context.now()),
  );
  const followUps = isAnyExpired ? await prepareExpiry(context, log, { tools }) : undefined;
  const recorded = { input, accept: makeAccept(context, run, input, followUps) };
  if (isAbandoned(log.state.head, context.now())) {
    /* Bad input is refused before anything is recorded. */
    recorded.accept(new Proposal(log.state));
    const ended = await recordAbandoned(context, log);
    onEvents?.(ended);
  }
  if (options.onlyWhenDue === true && isTooEarly(context, log)) return undefined;
  if (computeThreadStatus(log.state.head, context.now()) === 'indeterminate') {
    const reconciling = reconcileCalls(context, tools, log);
    const settled = await unlessAborted(reconciling, signal);
    onEvents?.(settled ?? []);
  }
  return takeThread(context, run, recorded);
}

/** Reopens a run that stalled past its lease, if no other run has begun. */
export async function openAgain(
  context: AgentContext,
  run: Opening,
): Promise<readonly ThreadEvent[]> {
  const input: AdmittedInput = { parsed: { messages: [], answers: [], by: {} } };
  const followUps = await prepareExpiry(context, run.log, { tools: run.tools });
  const accept = makeAccept(context, run, input, followUps);
  return takeThread(context, run, { input, accept, isAgain: true });
}

/** The records that a run makes before it takes the thread. */
interface Recorded {
  input: AdmittedInput;
  /** Proposes the events that record the input, and the expired requests. */
  accept: Decide;
  /** True if the run takes its thread again. */
  isAgain?: boolean;
}

/** Records the input, and takes the thread if there is work that no other run does. */
async function takeThread(
  context: AgentContext,
  run: Opening,
  recorded: Recorded,
): Promise<readonly ThreadEvent[]> {
  try {
    if (!context.hasAgentTools) return await checkAndAcquire(context, run, recorded);
    return await context.commitCancelled(run.log, recorded.accept, (acceptRest) =>
      checkAndAcquire(context, run, recorded, acceptRest),
    );
  } catch (error) {
    /* A standing approval ended just before its use was recorded: the calls are checked again. */
    ignoreGrantEnded(error);
    return takeThread(context, run, recorded);
  }
}

/** The lost calls that a run restarts, and the calls that are due. */
type Startable = readonly [restarts: readonly ThreadEvent[], starts: CheckedCalls];

/** Checks the calls that could start, and takes the thread. The checks come before the append, because the app's rules may take long. */
async function checkAndAcquire(
  context: AgentContext,
  run: Opening,
  { input: { parsed: input, released }, accept, isAgain = false }: Recorded,
  acceptRest = accept,
): Promise<readonly ThreadEvent[]> {
  const { log, tools, options, lease, signal } = run;
  const { resumeStopped } = input;
  const { state, revision } = log;
  const expected = new Proposal(state);
  if (input.answers.length > 0 || released !== undefined) accept(expected);
  const isAnyLost = state.head.calls.some(isUnfinished);
  let startable: Startable = [[], new Map()];
  if (isAnyLost || listDueCalls(expected.head).length > 0) {
    const decisions = makeDecisionInput(context, state, run, state.messages.length - 1);
    const checking = Promise.all([
      isAnyLost ? makeRestartEvents(context, decisions, state, expected.head) : [],
      checkStartableCalls(decisions, state, expected.head),
    ]);
    startable = (await unlessAborted(checking, signal)) ?? startable;
  }
  const [restarts, starts] = startable;
  /* A resumed thread resumes all delegated calls, unless a scheduler only checks which are due. */
  const isOnlyResumed = input.messages.length + input.answers.length === 0;
  const resumesAll = isOnlyResumed && options.onlyWhenDue !== true;
  /* The calls that the run begins with; `undefined` if it must not take the thread. */
  const decide = (proposal: Proposal): readonly ThreadEvent[] | undefined => {
    /* Another scheduler may be faster. */
    if (!isAgain && options.onlyWhenDue === true && isTooEarly(context, log)) return undefined;
    acceptRest(proposal);
    const { head } = proposal;
    const at = context.now();
    const isCurrent = log.revision === revision;
    const restarted = isCurrent ? restarts : [];
    const lost = head.calls.filter(isUnfinished);
    const resumes = listResumes(head, tools, { at, until: resumesAll ? Infinity : context.now() });
    const isResumed = resumeStopped === true && isStoppedBeforeReply(head);
    const isWanted = isResumed || restarted.length + resumes.length > 0 || needsRun(head, at);
    /* Another run holds the thread, the outcome of a lost call is still unknown, or there is nothing to do. */
    if (isRunning(head, at) || restarted.length !== lost.length || !isWanted) {
      const failed = { at, hash: readLastHash(proposal.state) };
      if (isCurrent && !signal.aborted)
        proposal.add(...makeFailedRecoveryEvents(context, head, failed));
      return undefined;
    }
    const due = [...resumes, ...listStillDue(head, starts)];
    return [...restarted, ...takeTurns(due, head, context.toolCallConcurrency)];
  };
  return lease.acquire(decide, { resumeStopped });
}

/** Proposes the events that record the input, with the requests that follow those which have expired. */
function makeAccept(
  { now, principalId }: AgentContext,
  { tools, options: { whilePending = 'refuse' } }: Opening,
  input: AdmittedInput,
  followUps: FollowUps | undefined,
): Decide {
  return (proposal) =>
    decideInput(proposal, input, { tools, now: now(), whilePending, principalId, followUps });
}

/** Checks whether a scheduler woke before the time in the log. */
function isTooEarly({ now }: AgentContext, { state }: ThreadLog): boolean {
  return (computeNextDeadline(state.head) ?? Infinity) > now();
}
