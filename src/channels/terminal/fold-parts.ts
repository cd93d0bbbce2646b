/** Lines, or a group of parts, of which the middle may be hidden. Blank lines may be dropped. */
export type Part =
  | { type: 'lines'; rows: number; lines: readonly string[]; indent: number }
  | { type: 'group'; rows: number; parts: readonly Part[]; indent: number };

/** The line that is shown in place of so many hidden lines. */
export type FoldMark = (count: number, indent: number) => string;

export function makeLinesPart(lines: readonly string[], indent = 0): Part {
  return { type: 'lines', rows: lines.length, lines, indent };
}

export function groupPart(parts: readonly Part[], indent = 0): Part {
  return { type: 'group', rows: sum(parts.map(({ rows }) => rows)), parts, indent };
}

/** Every line of the parts. */
export function listLines(parts: readonly Part[]): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const more = part.type === 'lines' ? part.lines : listLines(part.parts);
    for (const line of more) lines.push(line);
  }
  return lines;
}

/**
 * Fits the parts into so many rows, in their order. Short parts are shown in full; long parts show their first and last lines, with
 * a mark between. If there are too many parts, the first and last ones are shown.
 */
export function foldParts(parts: readonly Part[], rows: number, mark: FoldMark): string[] {
  if (fits(parts, rows)) return listLines(parts);
  const filled = parts.filter((part) => !isBlank(part));
  if (fits(filled, rows)) return listLines(filled);
  if (sum(filled.map(countMinimumRows)) > rows) return foldMany(filled, rows, mark);
  const shares = shareRows(filled, rows);
  return filled.flatMap((part, index) => foldPart(part, shares[index] ?? 0, mark));
}

function foldPart(part: Part, rows: number, mark: FoldMark): string[] {
  if (part.type === 'group') return foldParts(part.parts, rows, mark);
  return part.rows <= rows ? [...part.lines] : foldLines(part.lines, rows, part.indent, mark);
}

function foldLines(
  lines: readonly string[],
  rows: number,
  indent: number,
  mark: FoldMark,
): string[] {
  if (rows <= 0) return [];
  const first = Math.ceil(((rows - 1) * 2) / 3);
  const last = rows - 1 - first;
  return [
    ...lines.slice(0, first),
    mark(lines.length - first - last, indent),
    ...lines.slice(lines.length - last),
  ];
}

function foldMany(parts: readonly Part[], rows: number, mark: FoldMark): string[] {
  const first = countWithin(parts, Math.ceil(((rows - 1) * 2) / 3));
  const rest = rows - 1 - sum(parts.slice(0, first).map(countMinimumRows));
  const last = countWithin(parts.slice(first).toReversed(), rest);
  const indent = parts[0]?.indent ?? 0;
  if (first === 0) return foldLines(listLines(parts), rows, indent, mark);
  const kept = [...parts.slice(0, first), ...parts.slice(parts.length - last)];
  const between = parts.slice(first, parts.length - last);
  const shares = shareRows(kept, rows - 1);
  const folded = kept.map((part, index) => foldPart(part, shares[index] ?? 0, mark));
  const hidden = mark(sum(between.map((part) => part.rows)), between[0]?.indent ?? indent);
  return [...folded.slice(0, first).flat(), hidden, ...folded.slice(first).flat()];
}

/* How many of the parts fit, each with its minimum of rows. */
function countWithin(parts: readonly Part[], rows: number): number {
  let left = rows;
  const end = parts.findIndex((part) => (left -= countMinimumRows(part)) < 0);
  return end === -1 ? parts.length : end;
}

/* Rows for each part: short parts get all they need, and the others share the rest. */
function shareRows(parts: readonly Part[], rows: number): number[] {
  const given = parts.map(countMinimumRows);
  const needs = parts.map((part, index) => ({ index, more: part.rows - (given[index] ?? 0) }));
  let left = rows - sum(given);
  for (const [rank, { index, more }] of needs.toSorted((a, b) => a.more - b.more).entries()) {
    const share = Math.min(more, Math.floor(left / (needs.length - rank)));
    given[index] = (given[index] ?? 0) + share;
    left -= share;
  }
  return given;
}

/* A line and a mark. */
function countMinimumRows(part: Part): number {
  return Math.min(part.rows, 2);
}

function isBlank(part: Part): boolean {
  return part.type === 'lines' && part.lines.every((line) => line === '');
}

function fits(parts: readonly Part[], rows: number): boolean {
  return sum(parts.map((part) => part.rows)) <= rows;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
