import type { LoggedDecision } from './recorded-threads.ts';
import type { CandidateDecision, ReplayedCall } from './replay-thread.ts';
import type { StandingApproval } from './standing-approval.ts';

/** The log's decision on a call that a rule could decide about. */
export type LoggedType = Exclude<LoggedDecision['type'], 'refused' | 'question'>;

/** The numbers of calls, by the candidate's decision and by the log's. */
export type DecisionCounts = Record<CandidateDecision, Record<LoggedType, number>>;

/** The numbers of disagreements up to which a backtest passes. */
export interface BacktestLimits {
  /** Calls that would have run although people rejected them. Default 0. */
  maxRejected?: number;
  /** Calls that would have run with the input that people changed. Default: no limit. */
  maxEdited?: number;
  /** Calls that would have been denied although people approved them. Default: no limit. */
  maxDenied?: number;
}

/** The result of a backtest, as plain JSON; as text, a report for the terminal. */
export interface BacktestResult {
  /** The number of replayed threads. */
  threads: number;
  /** The threads that could not be read, by their ids or their positions among the given threads, with the reasons. */
  unreadable: { thread: string; error: string }[];
  /** The number of calls that the candidate decided. */
  calls: number;
  /** The numbers of calls that no rule decides: they asked a question, or were refused before a rule was applied. */
  skipped: { question: number; refused: number };
  /** The numbers of calls by decision, of the recorded rules and of these. */
  counts: DecisionCounts;
  /** The counts by tool, the most calls first. */
  tools: { toolName: string; calls: number; counts: DecisionCounts }[];
  /**
   * The reasons for which the candidate asks and denies, the most frequent first; at most 20. A rule that throws asks for the reason that
   * it failed.
   */
  reasons: { toolName: string; decision: CandidateDecision; reason: string; calls: number }[];
  /** The calls that people decided differently from these rules. */
  disagreements: Disagreement[];
  /** The narrowest standing approval that would have saved the most questions. Absent if none would have saved one. */
  standingApproval?: StandingApproval;
  /** The exceeded limits, as text. Empty: the candidate passes. */
  failures: string[];
  /** The report for a terminal. */
  toString(): string;
}

/** Counts the findings of a backtest. */
export function makeBacktestResult({
  threads,
  unreadable,
  calls: all,
  standingApproval,
  limits,
}: Pick<BacktestResult, 'threads' | 'unreadable' | 'standingApproval'> & {
  calls: readonly ReplayedCall[];
  limits: BacktestLimits;
}): Omit<BacktestResult, 'toString'> {
  const calls = all.filter(isDecided);
  const disagreements = calls.flatMap((call) => findDisagreement(call) ?? []);
  const byTool = Map.groupBy(calls, ({ toolName }) => toolName);
  const skipped = (type: LoggedDecision['type']): number =>
    all.filter(({ logged }) => logged.type === type).length;
  return {
    threads,
    unreadable,
    calls: calls.length,
    skipped: { question: skipped('question'), refused: skipped('refused') },
    counts: countDecisions(calls),
    tools: [...byTool]
      .map(([toolName, ofTool]) => ({
        toolName,
        calls: ofTool.length,
        counts: countDecisions(ofTool),
      }))
      .toSorted((one, other) => other.calls - one.calls),
    reasons: countReasons(calls),
    disagreements,
    ...(standingApproval && { standingApproval }),
    failures: listFailures(disagreements, limits),
  };
}

interface DecidedCall extends ReplayedCall {
  logged: LoggedDecision & { type: LoggedType };
}

function isDecided(call: ReplayedCall): call is DecidedCall {
  return call.logged.type !== 'refused' && call.logged.type !== 'question';
}

function countDecisions(calls: readonly DecidedCall[]): DecisionCounts {
  const counts = {
    run: makeZeroCounts(),
    ask: makeZeroCounts(),
    deny: makeZeroCounts(),
    fail: makeZeroCounts(),
  };
  for (const { decision, logged } of calls) counts[decision][logged.type] += 1;
  return counts;
}

function makeZeroCounts(): Record<LoggedType, number> {
  return {
    approved: 0,
    edited: 0,
    rejected: 0,
    granted: 0,
    unanswered: 0,
    unasked: 0,
    denied: 0,
  };
}

function countReasons(calls: readonly DecidedCall[]): BacktestResult['reasons'] {
  const given = calls.flatMap(({ toolName, decision, reason }) =>
    reason === undefined ? [] : [{ toolName, decision, reason }],
  );
  const groups = Map.groupBy(given, (each) => JSON.stringify(each));
  return [...groups.values()]
    .flatMap(([first, ...others]) => (first ? [{ ...first, calls: others.length + 1 }] : []))
    .toSorted((one, other) => other.calls - one.calls)
    .slice(0, 20);
}

function listFailures(
  disagreements: readonly Disagreement[],
  { maxRejected = 0, maxEdited = Infinity, maxDenied = Infinity }: BacktestLimits,
): string[] {
  const limits: [DisagreementType, number, string][] = [
    ['runs-rejected', maxRejected, 'would have run although people rejected them'],
    ['runs-edited', maxEdited, 'would have run as proposed although people edited them'],
    ['denies-approved', maxDenied, 'would have been denied although people approved them'],
  ];
  return limits.flatMap(([type, limit, what]) => {
    const found = disagreements.filter((each) => each.type === type).length;
    return found > limit ? [`Calls that ${what}: ${found}; allowed: ${limit}.`] : [];
  });
}

/**
 * The difference of a candidate from the record of a call. `runs-rejected`, `runs-edited`: it would have run, without asking, a call that
 * people rejected, or changed before it ran. `denies-approved`: it would have denied a call that people approved. `runs-denied`,
 * `denies-unasked`, `asks-unasked`: it differs from the rules of that time; no person had decided.
 */
export type DisagreementType =
  | 'runs-rejected'
  | 'runs-edited'
  | 'denies-approved'
  | 'runs-denied'
  | 'denies-unasked'
  | 'asks-unasked';

/** A recorded call about which the candidate differs from people, or from the rules of that time. */
export interface Disagreement {
  /** The kind of disagreement. */
  type: DisagreementType;
  /** The thread of the call. */
  threadId: string;
  /** The number of the step that proposed the call, from 0. */
  step: number;
  /** Its position among the calls of the step, from 0. */
  index: number;
  /** The model's id of the call. */
  toolCallId: string;
  /** The name of the tool. */
  toolName: string;
  /** The input that the model proposed. */
  input: unknown;
  /** The input that ran instead, because a person edited it. */
  editedInput?: unknown;
  /** The person who answered, as authenticated by the app, with the channel and the reason. */
  principal?: unknown;
  /** The channel through which the call was decided, if that is known. */
  channel?: string;
  /** The reason that was given for the decision, if there was one. */
  reason?: string;
}

const types: readonly [CandidateDecision, LoggedDecision['type'], DisagreementType][] = [
  ['run', 'rejected', 'runs-rejected'],
  ['run', 'edited', 'runs-edited'],
  ['deny', 'approved', 'denies-approved'],
  ['deny', 'edited', 'denies-approved'],
  ['deny', 'granted', 'denies-approved'],
  ['run', 'denied', 'runs-denied'],
  ['deny', 'unasked', 'denies-unasked'],
  ['ask', 'unasked', 'asks-unasked'],
];

/** Finds the candidate's disagreement about a call; `undefined` if there is none. */
function findDisagreement(call: ReplayedCall): Disagreement | undefined {
  const found = types.find(
    ([decision, logged]) => decision === call.decision && logged === call.logged.type,
  );
  if (found === undefined) return undefined;
  const { threadId, step, index, toolCallId, toolName, input } = call;
  const { principal, channel, reason, editedInput } = call.logged;
  return {
    type: found[2],
    threadId,
    step,
    index,
    toolCallId,
    toolName,
    input,
    ...(editedInput === undefined ? {} : { editedInput }),
    ...(principal === undefined ? {} : { principal }),
    ...(channel === undefined ? {} : { channel }),
    ...(reason === undefined ? {} : { reason }),
  };
}
