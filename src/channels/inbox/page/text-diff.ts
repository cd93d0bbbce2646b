/** A line of a comparison: what is the same, what was removed, what was added. */
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

/** So many lines of one kind, in their order. */
export interface DiffRun {
  kind: DiffLine['kind'];
  lines: DiffLine[];
}

/* Where more than this differs, it is shown as replaced: to find the shortest way would take long, and nobody could read it. */
const mostEdits = 1_000;
const mostWordEdits = 300;
/* Of longer lines no words are compared. */
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
  /* Lines that have little in common were not changed into each other. */
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

/** Lines of one kind that follow each other, together. */
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

/** What is the same and what differs in two lists, in their order. */
function compare(before: readonly string[], after: readonly string[], most: number): Step[] {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const steps: Step[] = [];
  const add = (kind: Step['kind'], removed: readonly string[], added: readonly string[]): void => {
    if (removed.length + added.length === 0) return;
    const last = steps.at(-1);
    if (last?.kind === kind) {
      for (const each of removed) last.before.push(each);
      for (const each of added) last.after.push(each);
    } else steps.push({ kind, before: [...removed], after: [...added] });
  };
  const same = before.slice(0, start);
  add('same', same, same);
  let [x, y] = [0, 0];
  for (const match of findMatches(old, now, most)) {
    add('changed', old.slice(x, match.x), now.slice(y, match.y));
    const kept = old.slice(match.x, match.x + match.length);
    add('same', kept, kept);
    [x, y] = [match.x + match.length, match.y + match.length];
  }
  add('changed', old.slice(x), now.slice(y));
  const rest = before.slice(before.length - end);
  add('same', rest, rest);
  return steps;
}

interface Match {
  x: number;
  y: number;
  length: number;
}

/**
 * The runs that two lists have in common on the shortest way from one to the other (Myers, "An O(ND) difference algorithm and its
 * variations", 1986); none if that has more than so many edits.
 */
function findMatches(old: readonly string[], now: readonly string[], most: number): Match[] {
  const reached: Int32Array[] = [];
  const limit = Math.min(most, old.length + now.length);
  /* How far each diagonal has come, by its number. */
  const furthest = new Int32Array(2 * limit + 3);
  const zero = limit + 1;
  for (let edits = 0; edits <= limit; edits += 1) {
    reached.push(furthest.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = firstStep(furthest, zero, diagonal, edits);
      let y = x - diagonal;
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x += 1;
        y += 1;
      }
      furthest[zero + diagonal] = x;
      if (x >= old.length && y >= now.length) return traceBack(reached, zero, { x, y, edits });
    }
  }
  return [];
}

function firstStep(furthest: Int32Array, zero: number, diagonal: number, edits: number): number {
  const below = furthest[zero + diagonal - 1] ?? 0;
  const above = furthest[zero + diagonal + 1] ?? 0;
  const isAdded = diagonal === -edits || (diagonal !== edits && below < above);
  return isAdded ? above : below + 1;
}

function traceBack(
  reached: readonly Int32Array[],
  zero: number,
  { x: lastX, y: lastY, edits: lastEdits }: { x: number; y: number; edits: number },
): Match[] {
  const matches: Match[] = [];
  let [x, y] = [lastX, lastY];
  for (let edits = lastEdits; edits >= 0; edits -= 1) {
    const furthest = reached[edits] ?? new Int32Array();
    const diagonal = x - y;
    const from = edits === 0 ? 0 : firstStep(furthest, zero, diagonal, edits);
    if (x > from) matches.push({ x: from, y: from - diagonal, length: x - from });
    if (edits === 0) break;
    const below = furthest[zero + diagonal - 1] ?? 0;
    const above = furthest[zero + diagonal + 1] ?? 0;
    const isAdded = diagonal === -edits || (diagonal !== edits && below < above);
    const previous = isAdded ? diagonal + 1 : diagonal - 1;
    x = furthest[zero + previous] ?? 0;
    y = x - previous;
  }
  return matches.toReversed();
}
