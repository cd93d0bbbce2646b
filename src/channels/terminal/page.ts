import { inertLine, inertName, quoteInertLine } from '../../content/inert-text.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { type RequestCard, renderFact } from '../../view/request-card.ts';
import { fitTextLines, wrap, type Paint, findDiffPaint } from './styled-text.ts';

/** The text of a request, written part by part for one width. */
export class Page {
  readonly columns: number;
  readonly paint: Paint;
  readonly #parts: Part[] = [];
  #lines: readonly string[] | undefined;

  constructor({ columns, paint }: Pick<Page, 'columns' | 'paint'>) {
    this.columns = columns;
    this.paint = paint;
  }

  /** Every line. */
  get lines(): readonly string[] {
    this.#lines ??= listLines(this.#parts);
    return this.#lines;
  }

  /** Returns the lines that fit into this many rows, and the number of hidden ones. `key`: the key that shows them. */
  folded(rows: number, key?: string): { lines: string[]; hidden: number } {
    let hidden = 0;
    const lines = foldParts(this.#parts, Math.max(0, rows), (count, indent) => {
      hidden += count;
      return ' '.repeat(indent) + this.paint.hint(foldText(count, this.columns - indent, key));
    });
    return { lines, hidden: rows <= 0 ? this.lines.length : hidden };
  }

  add(...lines: string[]): void {
    this.addPart(makeLinesPart(lines));
  }

  addPart(part: Part): void {
    this.#parts.push(part);
    this.#lines = undefined;
  }

  /** Adds the position of this request, as `2 of 3`; nothing for `undefined`. */
  position(position: string | undefined): void {
    if (position === undefined) return;
    this.add('');
    this.add(this.paint.hint(position));
  }

  /** Adds everything on a card except its title and its call. */
  card({ facts, warnings }: RequestCard, reader: TimeReader): void {
    this.facts(facts.map((fact) => renderFact(fact, reader)));
    this.warnings(warnings);
  }

  /** Adds look-alike warnings, if any. */
  warnings(warnings: readonly string[]): void {
    this.facts(warnings, this.paint.strong);
  }

  /** Adds short texts that are safe to show, each on lines of its own. */
  facts(texts: readonly string[], paint: (line: string) => string = (line) => line): void {
    for (const text of texts) {
      const lines = wrap(text, this.columns - 2);
      this.add(...lines.map((line, index) => paint(index === 0 ? line : `┊ ${line}`)));
    }
  }

  /** Adds untrusted text of any length. */
  text(text: string, paint: (line: string) => string = (line) => line): void {
    this.addPart(makeLinesPart(fitTextLines(text, this.columns).map(paint)));
  }
}

/* Shortened if there is little room: the key must not be cut off. */
function foldText(count: number, columns: number, key: string | undefined): string {
  const more = `… ${count.toLocaleString('en')} more`;
  const inFull = `${more} lines${key === undefined ? '' : `, ${key} shows them`}`;
  if (inFull.length <= columns) return inFull;
  return `${more}${key === undefined ? '' : `, ${key}`}`.slice(0, columns);
}

/** Writes the text of a request on a page. */
export type Content = (page: Page) => void;

/** Adds, next to the choices, the name of the person who answers; nothing if there is no name. */
export function addAnswerer(content: Content, person: string | undefined): Content {
  if (person === undefined) return content;
  return (page) => {
    content(page);
    page.facts([`Answering as ${inertLine(person)}`]);
    page.add('');
  };
}

export const longestOnOneLine = 60;
/* At most half of it is used for indentation; deeper values are shown on one line. */
const widestPage = 80;

/** Shows the call exactly as it would run: its tool, and every argument as `name: value`. */
export function showCall(
  page: Page,
  { toolName, input }: Pick<ToolCall, 'toolName' | 'input'>,
): void {
  const name = wrap(inertLine(toolName), page.columns - 4).map(
    (line, index) => `${index === 0 ? '  ' : '  ┊ '}${page.paint.strong(line)}`,
  );
  const parts = isGroup(input)
    ? makeEntryParts(page, input, 4)
    : [makeValuePart(page, '', input, 4)];
  page.addPart(groupPart([makeLinesPart(name, 2), ...parts], 2));
}

function makeEntryParts(page: Page, group: object, indent: number): Part[] {
  return Object.entries(group).map(([name, value]) => {
    const label = Array.isArray(group) ? `[${name}]` : inertName(name);
    return makeValuePart(page, `${label}: `, value, indent);
  });
}

function makeValuePart(page: Page, label: string, value: unknown, indent: number): Part {
  const room = page.columns - indent;
  if (typeof value === 'string' && value.includes('\n')) {
    const paint = findDiffPaint(value, page.paint);
    const space = ' '.repeat(indent);
    const lines = fitTextLines(value, room, { isBlock: true, paint }).map((line) => space + line);
    return labelPart(page, label, makeLinesPart(lines, indent), indent);
  }
  const text = renderCompact(value);
  const deeper = indent + 2;
  const isLong = text.length > longestOnOneLine || text.length > room;
  if (isGroup(value) && isLong && deeper <= Math.min(page.columns, widestPage) / 2) {
    return labelPart(page, label, groupPart(makeEntryParts(page, value, deeper), deeper), indent);
  }
  return makeLinesPart(wrapContinued(page, indent, `${label}${text}`), indent);
}

function labelPart(page: Page, label: string, part: Part, indent: number): Part {
  if (label === '') return part;
  return groupPart(
    [makeLinesPart(wrapContinued(page, indent, label.trimEnd()), indent), part],
    indent,
  );
}

function wrapContinued(page: Page, indent: number, text: string): string[] {
  const space = ' '.repeat(indent);
  return wrap(text, page.columns - indent - 2).map((line, index) =>
    index === 0 ? space + line : `${space}┊ ${line}`,
  );
}

function isGroup(value: unknown): value is object {
  return isObject(value) && Object.keys(value).length > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * JSON on one line, except that strings show hidden characters as `inertLine` does instead of escaping them. Not recursive: values
 * that are nested thousands deep would overflow the stack.
 */
export function renderCompact(value: unknown): string {
  let text = '';
  const ahead: Ahead[] = [{ value }];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (typeof next === 'string') text += next;
    else if (!isObject(next.value)) text += renderLeaf(next.value);
    else for (const part of listInside(next.value).toReversed()) ahead.push(part);
  }
  return text;
}

/* Finished text, or a value that has yet to be written. */
type Ahead = string | { value: unknown };

function listInside(group: object): Ahead[] {
  const isList = Array.isArray(group);
  const items = Object.entries(group).flatMap(([name, value], index): Ahead[] => [
    `${index === 0 ? '' : ', '}${isList ? '' : `${inertName(name)}: `}`,
    { value },
  ]);
  return isList ? ['[', ...items, ']'] : ['{', ...items, '}'];
}

function renderLeaf(value: unknown): string {
  return typeof value === 'string' ? quoteInertLine(value) : (JSON.stringify(value) ?? 'undefined');
}

/** Lines, or a group of parts, of which the middle may be hidden. Blank lines may be dropped. */
type Part =
  | { type: 'lines'; rows: number; lines: readonly string[]; indent: number }
  | { type: 'group'; rows: number; parts: readonly Part[]; indent: number };

/** Makes the line that replaces this many hidden lines. */
type FoldMark = (count: number, indent: number) => string;

function makeLinesPart(lines: readonly string[], indent = 0): Part {
  return { type: 'lines', rows: lines.length, lines, indent };
}

function groupPart(parts: readonly Part[], indent = 0): Part {
  return { type: 'group', rows: sum(parts.map(({ rows }) => rows)), parts, indent };
}

/** Every line of the parts. */
function listLines(parts: readonly Part[]): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const more = part.type === 'lines' ? part.lines : listLines(part.parts);
    for (const line of more) lines.push(line);
  }
  return lines;
}

/**
 * Fits the parts into this many rows, in their order. Short parts are shown in full; long parts show their first and last lines, with a
 * mark between. If there are too many parts, the first and last ones are shown.
 */
function foldParts(parts: readonly Part[], rows: number, mark: FoldMark): string[] {
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

/* Counts the parts that fit, each with its minimum of rows. */
function countWithin(parts: readonly Part[], rows: number): number {
  let left = rows;
  const end = parts.findIndex((part) => (left -= countMinimumRows(part)) < 0);
  return end === -1 ? parts.length : end;
}

/* Assigns rows to each part: short parts get all they need, and the others share the rest. */
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
