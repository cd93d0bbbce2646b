import { inertLine } from '../content/inert-text.ts';
import { renderPerson } from '../content/request-text.ts';
import type {
  BacktestResult,
  DecisionCounts,
  Disagreement,
  DisagreementType,
  LoggedType,
} from './backtest-result.ts';
import type { CandidateDecision } from './replay-thread.ts';
import type { StandingApproval } from './standing-approval.ts';

/** The numbers of calls of each kind, characters of an input, and threads that are listed. */
const shown = { calls: 20, input: 300, threads: 5 };

/** The report of a backtest, for a terminal. Values from models and people are made inert. */
export function renderBacktest(result: Omit<BacktestResult, 'toString'>): string {
  const { threads, calls, unreadable, failures, disagreements } = result;
  const blocks = [
    [`${renderCount(threads, 'thread')}, ${renderCount(calls, 'call')}.${renderSkipped(result)}`],
    calls === 0 ? [] : [...renderTable(result)],
    renderReasons(result),
    renderSavedQuestions(result),
    ...sections.map(([type, title]) => {
      const found = disagreements.filter((each) => each.type === type).length;
      return found === 0
        ? []
        : [title(renderCount(found, 'call')), ...listDisagreements(disagreements, type)];
    }),
    renderStandingApproval(result.standingApproval),
    unreadable.length === 0
      ? []
      : [
          `${renderCount(unreadable.length, 'thread')} could not be read:`,
          ...unreadable.map(({ thread, error }) => `  ${inertLine(thread)}: ${inertLine(error)}`),
        ],
    failures.length === 0 ? [] : failures.map((failure) => `FAILED: ${failure}`),
  ];
  return blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n');
}

function renderCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function renderSkipped({
  skipped: { question, refused },
}: Pick<BacktestResult, 'skipped'>): string {
  const questions = question === 0 ? '' : ` Not counted: ${renderCount(question, 'question')}.`;
  const refusals =
    refused === 0 ? '' : ` Refused before any rule: ${renderCount(refused, 'call')}.`;
  return questions + refusals;
}

const decisions: readonly [CandidateDecision, string][] = [
  ['run', 'run'],
  ['ask', 'ask'],
  ['deny', 'deny'],
  ['fail', 'fail'],
];
const loggedTypes: readonly LoggedType[] = [
  'approved',
  'edited',
  'rejected',
  'granted',
  'unanswered',
  'unasked',
  'denied',
];

/* Renders a row for each tool: the candidate's decisions, and those of the log. Columns without a call are left out. */
function renderTable({ tools, counts, calls }: Omit<BacktestResult, 'toString'>): string[] {
  const rows = [...tools, ...(tools.length > 1 ? [{ toolName: 'all', calls, counts }] : [])];
  const decided = decisions.filter(([decision]) => sum(Object.values(counts[decision])) > 0);
  const logged = loggedTypes.filter((type) => sumOfLogged(counts, type) > 0);
  const head = ['tool', 'calls', ...decided.map(([, title]) => title), '|', ...logged];
  const cells = rows.map((row) => [
    inertLine(row.toolName),
    String(row.calls),
    ...decided.map(([decision]) => String(sum(Object.values(row.counts[decision])))),
    '|',
    ...logged.map((type) => String(sumOfLogged(row.counts, type))),
  ]);
  const all = [head, ...cells];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const [width = 0] = widths;
  const lines = all.map(([name = '', ...numbers]) =>
    [name.padEnd(width), ...numbers.map((cell, at) => cell.padStart(widths[at + 1] ?? 0))].join(
      '  ',
    ),
  );
  const bar = lines[0]?.indexOf('|') ?? 0;
  return [`${'The candidate would'.padEnd(bar)}|  The log`, ...lines];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function sumOfLogged(counts: DecisionCounts, type: LoggedType): number {
  return sum(decisions.map(([decision]) => counts[decision][type]));
}

function renderReasons({ reasons }: Pick<BacktestResult, 'reasons'>): string[] {
  if (reasons.length === 0) return [];
  const lines = reasons.map(
    ({ toolName, decision, reason, calls }) =>
      `  ${renderCount(calls, 'call')}: ${decision} ${inertLine(toolName)}; because: ${inertLine(reason)}`,
  );
  return ['Reasons that the rules gave:', ...lines];
}

const sections: readonly [DisagreementType, (found: string) => string][] = [
  ['runs-edited', (found) => `Would have run ${found} with an input that people changed:`],
  ['denies-approved', (found) => `Would have denied ${found} that people approved:`],
  ['runs-denied', (found) => `Would have run ${found} that a rule denied:`],
  ['denies-unasked', (found) => `Would have denied ${found} that ran unasked:`],
  ['asks-unasked', (found) => `Would have asked about ${found} that ran unasked:`],
];

/* Shown without a rejection too: it is the purpose of the candidate. */
function renderSavedQuestions({
  counts,
  disagreements,
}: Omit<BacktestResult, 'toString'>): string[] {
  const { approved, edited, rejected, unanswered } = counts.run;
  const asked = sum([approved, edited, rejected, unanswered]);
  if (asked === 0) return [];
  const rejections = rejected === 0 ? 'none of them.' : `${rejected} of them:`;
  return [
    `Would have run ${renderCount(asked, 'call')} that people were asked about; people rejected ${rejections}`,
    ...listDisagreements(disagreements, 'runs-rejected'),
  ];
}

function listDisagreements(
  disagreements: readonly Disagreement[],
  type: DisagreementType,
): string[] {
  const found = disagreements.filter((each) => each.type === type);
  const more = found.length - shown.calls;
  return [
    ...found.slice(0, shown.calls).map((each) => `  ${renderDisagreement(each)}`),
    ...(more > 0 ? [`  and ${more} more; the JSON has all.`] : []),
  ];
}

function renderDisagreement(disagreement: Disagreement): string {
  const { threadId, toolCallId, toolName, input, editedInput } = disagreement;
  const { principal, channel, reason } = disagreement;
  const person = renderPerson(principal);
  return [
    `${inertLine(threadId)} ${inertLine(toolCallId)} ${inertLine(toolName)} ${renderInput(input)}`,
    ...(editedInput === undefined ? [] : [`changed to ${renderInput(editedInput)}`]),
    ...(person === undefined ? [] : [`by ${person}`]),
    ...(channel === undefined ? [] : [`through ${inertLine(channel)}`]),
    ...(reason === undefined ? [] : [`because: ${inertLine(reason)}`]),
  ].join('; ');
}

function renderInput(input: unknown): string {
  const text = JSON.stringify(input) ?? '';
  const characters = Array.from(text);
  const isCut = characters.length > shown.input;
  return inertLine(characters.slice(0, shown.input).join('')) + (isCut ? ' (cut off)' : '');
}

function renderStandingApproval(standing: StandingApproval | undefined): string[] {
  if (standing === undefined) return [];
  const { toolName, match, scope, saved, unanswered, threads, capped } = standing;
  const first = threads.slice(0, shown.threads);
  const more = threads.length - first.length;
  const evidence = first.map((each) => `${inertLine(each.threadId)} (${each.saved})`).join(', ');
  return [
    `The narrowest standing approval that would have saved the most questions, ${saved}, without a contradiction:`,
    `  ${inertLine(toolName)} with ${matchLine(match)}, ${scopeTexts[scope]}`,
    `  Its rule must allow it: remember: ${renderAllowed(standing)}`,
    `  It would have saved questions in ${evidence}${more > 0 ? ` and ${more} more` : ''}`,
    ...(unanswered === 0
      ? []
      : [`  It would also have run ${renderCount(unanswered, 'call')} that nobody answered.`]),
    ...(capped ? ['  Not all combinations of fields were tried.'] : []),
  ];
}

/* The smallest `remember` that the rule needs. */
function renderAllowed({ match, scope }: StandingApproval): string {
  const names = match.type === 'fields' ? Object.keys(match.fields) : match.type;
  return inertLine(JSON.stringify({ scope, match: names }));
}

const scopeTexts: Record<StandingApproval['scope'], string> = {
  thread: 'given once in each thread',
  principal: 'given once for each requester',
  everyone: 'given once for everyone',
};

function matchLine(match: StandingApproval['match']): string {
  switch (match.type) {
    case 'exact':
      return `exactly the input ${renderInput(match.input)}`;
    case 'fields':
      return `the fields ${renderInput(match.fields)}`;
    case 'any':
      return 'any input';
  }
}
