import { awaitUnlessAborted } from '../../content/waiting.ts';
import type { RunCause } from '../../policy/run-context.ts';
import { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  listDueCalls,
  isStoppedBeforeReply,
  needsRun,
  computeNextDeadline,
  computeThreadStatus,
} from '../../thread/thread-head.ts';
import { isAbandoned, isRunning, isUnfinished, type ThreadHead } from '../../thread/thread-head.ts';
import { readLastHash } from '../../thread/thread-state.ts';
import {
  checkStartableCalls,
  type CheckedCall,
  type CheckedCalls,
  takeTurns,
  listStillDue,
  listResumes,
} from '../calls/check-startable-calls.ts';
import { type FollowUps, makeFollowUps } from '../calls/expire-requests.ts';
import { makeDecisionInput } from '../calls/decide-calls.ts';
import { ignoreGrantEnded } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { acceptInput } from '../input/accept-input.ts';
import type { ParsedInput } from '../input/parse-input.ts';
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
}

/** What a run could begin with. */
interface Starts {
  /** The starts of the lost calls that may be restarted. */
  restarts: readonly ThreadEvent[];
  /** The calls that may start, or the reasons why they may not. */
  starts: CheckedCalls;
  /** The starts of delegated calls that resume. */
  resumes: readonly CheckedCall[];
  /** How many calls may run at once. */
  limit: number;
  /** Whether a person resumes a turn that was stopped. */
  resumeStopped: boolean | undefined;
}

/**
 * How a run begins: it records how an abandoned run ended, then its input, and takes the thread if there is work to do. Returns the events of
 * the last append; `undefined` if a scheduler woke too early, and nothing was recorded. `onEvents` receives those of earlier appends.
 */
export async function openRun(
  context: AgentContext,
  run: Opening,
  input: ParsedInput,
  onEvents: (events: readonly ThreadEvent[]) => void,
): Promise<readonly ThreadEvent[] | undefined> {
  const { log, tools, signal } = run;
  const followUps = await makeFollowUps(context, tools, log.state);
  if (isAbandoned(log.state.head, context.now())) {
    /* Bad input is refused before anything is recorded. */
    accept(context, run, new Proposal(log.state), { input, followUps });
    onEvents(await recordAbandoned(context, log));
  }
  if (isTooEarly(context, run)) return undefined;
  if (computeThreadStatus(log.state.head, context.now()) === 'indeterminate') {
    const reconciling = reconcileCalls(context, tools, log);
    onEvents((await awaitUnlessAborted(reconciling, signal)) ?? []);
  }
  return takeThread(context, run, { input, followUps });
}

/** Reopens a run that stalled past its lease, if no other run has begun. */
export async function openAgain(
  context: AgentContext,
  run: Opening,
): Promise<readonly ThreadEvent[]> {
  const input: ParsedInput = { messages: [], answers: [], by: {} };
  const followUps = await makeFollowUps(context, run.tools, run.log.state);
  return takeThread(context, run, { input, followUps, isAgain: true });
}

/** What a run records before it takes the thread. */
interface Recorded {
  input: ParsedInput;
  /** The requests that follow those which have expired. */
  followUps: FollowUps | undefined;
  /** Whether the run takes its thread again. */
  isAgain?: boolean;
}

/**
 * Records the input, and takes the thread if there is work that no other run does. The calls that could start are checked before the
 * append, because the app's rules may take long.
 */
async function takeThread(
  context: AgentContext,
  run: Opening,
  recorded: Recorded,
): Promise<readonly ThreadEvent[]> {
  const taking = context.commitCancelled(
    run.log,
    (proposal) => accept(context, run, proposal, recorded),
    async (accepted) => checkAndAcquire(context, run, recorded, accepted),
  );
  /* A standing approval ended just before its use was recorded: the calls are checked again. */
  return (await taking.catch(ignoreGrantEnded)) ?? takeThread(context, run, recorded);
}

async function checkAndAcquire(
  context: AgentContext,
  run: Opening,
  recorded: Recorded,
  acceptRest: (proposal: Proposal) => void,
): Promise<readonly ThreadEvent[]> {
  const { log, tools, options, lease, signal } = run;
  const { input, isAgain = false } = recorded;
  const { resumeStopped } = input;
  const { state, revision } = log;
  const expected = new Proposal(state);
  if (input.answers.length > 0) accept(context, run, expected, recorded);
  const isAnyLost = state.head.calls.some(isUnfinished);
  let restarts: readonly ThreadEvent[] = [];
  let starts: CheckedCalls = new Map();
  if (isAnyLost || listDueCalls(expected.head).length > 0) {
    const decisions = makeDecisionInput(context, state, run, state.messages.length - 1);
    const checking = Promise.all([
      isAnyLost ? makeRestartEvents(context, decisions, state) : [],
      checkStartableCalls(decisions, state, expected.head),
    ]);
    [restarts, starts] = (await awaitUnlessAborted(checking, signal)) ?? [restarts, starts];
  }
  /* A resumed thread resumes all delegated calls, unless a scheduler only looks which are due. */
  const isResumed = input.messages.length + input.answers.length === 0;
  const resumesAll = isResumed && options.onlyWhenDue !== true;
  const decide = (proposal: Proposal): readonly ThreadEvent[] | undefined => {
    /* Another scheduler may be faster. */
    if (!isAgain && isTooEarly(context, run)) return undefined;
    acceptRest(proposal);
    const isCurrent = log.revision === revision;
    const now = context.now();
    const until = resumesAll ? Infinity : context.now();
    const found = {
      restarts: isCurrent ? restarts : [],
      starts,
      resumes: listResumes(proposal.head, tools, { at: now, until }),
      limit: context.toolCallConcurrency,
      resumeStopped,
    };
    const opening = makeOpeningEvents(proposal.head, found, now);
    if (opening === undefined && isCurrent && !signal.aborted) {
      const failed = { at: now, hash: readLastHash(proposal.state) };
      proposal.add(...makeFailedRecoveryEvents(context, proposal.head, failed));
    }
    return opening;
  };
  return lease.acquire(decide, { resumeStopped });
}

function accept(
  { now, principalId }: AgentContext,
  { tools, options: { whilePending = 'refuse' } }: Opening,
  proposal: Proposal,
  { input, followUps }: Recorded,
): void {
  acceptInput(proposal, input, { tools, now: now(), whilePending, principalId, followUps });
}

/** Whether a scheduler woke before the time in the log. */
function isTooEarly({ now }: AgentContext, { log, options }: Opening): boolean {
  if (options.onlyWhenDue !== true) return false;
  return (computeNextDeadline(log.state.head) ?? Infinity) > now();
}

/**
 * The calls that a run begins with; `undefined` if it must not take the thread: another run holds it, the outcome of a lost call is still
 * unknown, or there is nothing to do.
 */
function makeOpeningEvents(
  head: ThreadHead,
  { restarts, starts, resumes, limit, resumeStopped }: Starts,
  now: number,
): readonly ThreadEvent[] | undefined {
  const lost = head.calls.filter(isUnfinished);
  const isResumed = resumeStopped === true && isStoppedBeforeReply(head);
  const isWanted = isResumed || restarts.length + resumes.length > 0 || needsRun(head, now);
  if (isRunning(head, now) || restarts.length !== lost.length || !isWanted) return undefined;
  return [...restarts, ...takeTurns([...resumes, ...listStillDue(head, starts)], head, limit)];
}
