import { unlessAborted } from '../../content/until-aborted.ts';
import type { RunCause } from '../../policy/run-context.ts';
import { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import {
  dueCalls,
  isStoppedBeforeReply,
  needsRun,
  nextDeadlineOf,
  statusOf,
} from '../../thread/thread-status.ts';
import { isAbandoned, isRunning, isUnfinished, type ThreadHead } from '../../thread/thread-head.ts';
import { lastHash } from '../../thread/thread-state.ts';
import {
  alone,
  checkDueCalls,
  type CheckedCalls,
  inTurn,
  stillDue,
  resumeEvents,
} from '../calls/check-due-calls.ts';
import type { FollowUps } from '../calls/close-requests.ts';
import { decisionInput } from '../calls/decide-calls.ts';
import { unlessGrantEnded } from '../calls/find-grant.ts';
import { followUpsFor } from '../calls/follow-ups.ts';
import { type ToolDefinitions } from '../calls/tool-definitions.ts';
import { acceptInput } from '../input/accept-input.ts';
import type { ParsedInput } from '../input/parse-input.ts';
import type { AgentContext } from './agent-context.ts';
import type { Lease } from './lease.ts';
import { recordAbandoned } from './lost-calls.ts';
import { failedRecoveries, reconcileCalls, restartsOf } from './recover-calls.ts';
import type { RunOptions } from './run-options.ts';

/** The settings of `RunOpening`. */
interface OpeningSetting {
  log: ThreadLog;
  tools: ToolDefinitions;
  options: RunOptions<unknown>;
  cause: RunCause;
  lease: Lease;
  signal: AbortSignal;
  /** Receives every event that the run appended. */
  onEvents: (events: readonly ThreadEvent[]) => void;
}

/** The results of the checks before a run takes the thread. They are made before the append, because the app's rules may take long. */
interface Checked {
  /** The starts of the lost calls that may be restarted. */
  restarts: readonly ThreadEvent[];
  /** The calls that may start, or the reasons why they may not. */
  starts: CheckedCalls;
}

/** What a run could begin with. */
interface Opening extends Checked {
  /** The starts of delegated calls that resume. */
  resumes: readonly ThreadEvent[];
  /** How many calls may run at once. */
  limit: number;
  /** Whether a person resumes a turn that was stopped. */
  resumeStopped: boolean | undefined;
}

const nothing: ParsedInput = { messages: [], answers: [], by: {} };
const nothingChecked: Checked = { restarts: [], starts: new Map() };

/** How a run begins: it records how an abandoned run ended, then its input, and takes the thread if there is work to do. */
export class RunOpening {
  readonly #context: AgentContext;
  readonly #setting: OpeningSetting;
  /** The requests that follow those which have expired. */
  #followUps: FollowUps | undefined;

  constructor(context: AgentContext, setting: OpeningSetting) {
    this.#context = context;
    this.#setting = setting;
  }

  /** Opens the run and returns the appended events; `undefined` if a scheduler woke too early, and nothing was recorded. */
  async open(input: ParsedInput): Promise<readonly ThreadEvent[] | undefined> {
    const { log, tools, signal, onEvents } = this.#setting;
    this.#followUps = await followUpsFor(this.#context, tools, log.state);
    if (isAbandoned(log.state.head, this.#context.now())) {
      /* Bad input is refused before anything is recorded. */
      this.#accept(new Proposal(log.state), input);
      onEvents(await recordAbandoned(this.#context, log));
    }
    if (this.#isTooEarly()) return undefined;
    if (statusOf(log.state.head, this.#context.now()) === 'indeterminate') {
      const reconciling = reconcileCalls(this.#context, tools, log);
      onEvents((await unlessAborted(reconciling, signal)) ?? []);
    }
    /* Another scheduler may be faster. */
    return this.#take(input, () => this.#isTooEarly());
  }

  /** Reopens a run that stalled past its lease, if no other run has begun. */
  async openAgain(): Promise<readonly ThreadEvent[]> {
    return this.#take(nothing, () => false);
  }

  /** Records the input, and takes the thread if there is work that no other run does. */
  async #take(input: ParsedInput, isTooEarly: () => boolean): Promise<readonly ThreadEvent[]> {
    const taking = this.#context.commitCancelled(
      this.#setting.log,
      (proposal) => this.#accept(proposal, input),
      async (accept) => this.#acquire(input, accept, isTooEarly),
    );
    /* A standing approval ended just before its use was recorded: the calls are checked again. */
    return (await taking.catch(unlessGrantEnded)) ?? this.#take(input, isTooEarly);
  }

  async #acquire(
    input: ParsedInput,
    accept: (proposal: Proposal) => void,
    isTooEarly: () => boolean,
  ): Promise<readonly ThreadEvent[]> {
    const { log, tools, lease, signal } = this.#setting;
    const { revision } = log;
    const expected = new Proposal(log.state);
    if (input.answers.length > 0) this.#accept(expected, input);
    const isCheckNeeded =
      log.state.head.calls.some(isUnfinished) || dueCalls(expected.head).length > 0;
    const checking = isCheckNeeded ? unlessAborted(this.#check(expected.head), signal) : undefined;
    const checked = (await checking) ?? nothingChecked;
    const { resumeStopped } = input;
    const decide = (proposal: Proposal): readonly ThreadEvent[] | undefined => {
      if (isTooEarly()) return undefined;
      accept(proposal);
      const isCurrent = log.revision === revision;
      const now = this.#context.now();
      const { toolCallConcurrency: limit } = this.#context;
      const found = isCurrent ? checked : { ...checked, restarts: [] };
      const resumes = resumeEvents(proposal.head, tools, {
        at: now,
        until: this.#resumeUntil(input),
      });
      const opening = openingEvents(
        proposal.head,
        { ...found, resumes, limit, resumeStopped },
        now,
      );
      if (opening === undefined && isCurrent && !signal.aborted) {
        const failed = { at: now, hash: lastHash(proposal.state) };
        proposal.add(...failedRecoveries(this.#context, proposal.head, failed));
      }
      return opening;
    };
    return lease.acquire(decide, { resumeStopped });
  }

  /** Checks which calls a run could begin with; `expected` is the head as it will be after the input. */
  async #check(expected: ThreadHead): Promise<Checked> {
    const { state } = this.#setting.log;
    const count = state.messages.length - 1;
    const decisions = decisionInput(this.#context, state, this.#setting, count);
    const isAnyLost = state.head.calls.some(isUnfinished);
    const [restarts, starts] = await Promise.all([
      isAnyLost ? restartsOf(this.#context, decisions, state) : [],
      checkDueCalls(decisions, state, expected),
    ]);
    return { restarts, starts };
  }

  #accept(proposal: Proposal, input: ParsedInput): void {
    const { tools, options } = this.#setting;
    const { whilePending = 'refuse' } = options;
    const followUps = this.#followUps;
    const { now, principalId } = this.#context;
    acceptInput(proposal, input, { tools, now: now(), whilePending, principalId, followUps });
  }

  /** Delegated calls that are due by this time are resumed: all of them if an app resumes the thread. */
  #resumeUntil({ messages, answers }: ParsedInput): number {
    const isResumed = messages.length + answers.length === 0;
    const isScheduled = this.#setting.options.onlyWhenDue === true;
    return isResumed && !isScheduled ? Infinity : this.#context.now();
  }

  /** Whether a scheduler woke before the time in the log. */
  #isTooEarly(): boolean {
    const { log, options } = this.#setting;
    if (options.onlyWhenDue !== true) return false;
    return (nextDeadlineOf(log.state.head) ?? Infinity) > this.#context.now();
  }
}

/**
 * The calls that a run begins with; `undefined` if it must not take the thread: another run holds it, the outcome of a lost call is still
 * unknown, or there is nothing to do.
 */
function openingEvents(
  head: ThreadHead,
  { restarts, starts, resumes, limit, resumeStopped }: Opening,
  now: number,
): readonly ThreadEvent[] | undefined {
  const lost = head.calls.filter(isUnfinished);
  const isResumed = resumeStopped === true && isStoppedBeforeReply(head);
  const isWanted = isResumed || restarts.length + resumes.length > 0 || needsRun(head, now);
  if (isRunning(head, now) || restarts.length !== lost.length || !isWanted) return undefined;
  return [...restarts, ...inTurn([...resumes.map(alone), ...stillDue(head, starts)], head, limit)];
}
