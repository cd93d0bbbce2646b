import { diffArrays } from 'diff/lib/diff/array.js';

/** A line of a comparison: unchanged, removed, or added. */
export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
  /** Its parts, where the line was changed rather than replaced. */
  parts?: DiffPart[];
}

/** A part of a changed line. */
export interface DiffPart {
  text: string;
  isChanged: boolean;
}

/** Consecutive lines of one kind. */
export interface DiffRun {
  kind: DiffLine['kind'];
  lines: DiffLine[];
}

/* Texts with more differences are shown as replaced: comparing them would take long, and nobody could read it. */
const mostEdits = 1_000;
const mostWordEdits = 300;
/* Longer lines are not compared by words. */
const longestCompared = 4_000;

/** Compares two texts line by line, and changed lines word by word. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const lines: DiffLine[] = [];
  for (const step of compare(old, now, mostEdits)) {
    if (step.kind === 'same') {
      for (const text of step.before) lines.push({ kind: 'same', text });
      continue;
    }
    const pairs = step.before.map((text, index) => diffPair(text, step.after[index]));
    for (const [index, text] of step.before.entries()) {
      const parts = pairs[index]?.before;
      lines.push({ kind: 'removed', text, ...(parts && { parts }) });
    }
    for (const [index, text] of step.after.entries()) {
      const parts = pairs[index]?.after;
      lines.push({ kind: 'added', text, ...(parts && { parts }) });
    }
  }
  return lines;
}

function diffPair(before: string, after: string | undefined) {
  if (after === undefined || Math.max(before.length, after.length) > longestCompared)
    return undefined;
  const pair = diffWords(before, after);
  const kept = pair.before.reduce(
    (sum, { text, isChanged }) => sum + (isChanged ? 0 : text.length),
    0,
  );
  /* Lines with little in common count as replaced. */
  return kept * 3 >= Math.min(before.length, after.length) && kept > 0 ? pair : undefined;
}

/** Compares two texts word by word. */
export function diffWords(
  before: string,
  after: string,
): { before: DiffPart[]; after: DiffPart[] } {
  const result: { before: DiffPart[]; after: DiffPart[] } = { before: [], after: [] };
  for (const step of compare(splitWords(before), splitWords(after), mostWordEdits)) {
    const isChanged = step.kind === 'changed';
    if (step.before.length > 0) result.before.push({ text: step.before.join(''), isChanged });
    if (step.after.length > 0) result.after.push({ text: step.after.join(''), isChanged });
  }
  return result;
}

function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu) ?? [];
}

/** Groups consecutive lines of one kind. */
export function groupRuns(lines: readonly DiffLine[]): DiffRun[] {
  const runs: DiffRun[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.kind === line.kind) last.lines.push(line);
    else runs.push({ kind: line.kind, lines: [line] });
  }
  return runs;
}

interface Step {
  kind: 'same' | 'changed';
  before: string[];
  after: string[];
}

/** Compares two lists, in their order. */
function compare(before: readonly string[], after: readonly string[], most: number): Step[] {
  const start = countShared(before, after);
  const [rest, now] = [before.slice(start), after.slice(start)];
  const end = countShared(rest.toReversed(), now.toReversed());
  const old = rest.splice(0, rest.length - end);
  now.length -= end;
  const changes = diffArrays(old, now, { maxEditLength: most }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: now },
  ];
  const shared = before.slice(0, start);
  const steps: Step[] = [{ kind: 'same', before: shared, after: shared }];
  for (const { removed, added, value } of changes) {
    const last = steps.at(-1);
    if (!removed && !added) steps.push({ kind: 'same', before: value, after: value });
    else if (added && last?.kind === 'changed') last.after = value;
    else steps.push({ kind: 'changed', before: removed ? value : [], after: added ? value : [] });
  }
  steps.push({ kind: 'same', before: rest, after: rest });
  return steps;
}

/** Counts the items that two lists share at their beginning. */
function countShared(one: readonly string[], other: readonly string[]): number {
  const shorter = Math.min(one.length, other.length);
  let count = 0;
  while (count < shorter && one[count] === other[count]) count += 1;
  return count;
}
