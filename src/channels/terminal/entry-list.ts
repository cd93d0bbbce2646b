import { inertLine } from '../../content/inert-text.ts';
import { takeFirstUnits, fitOneLine, wrap } from './styled-text.ts';
import type { Canvas, Entry } from './widget.ts';

/* Two lines count the hidden entries if there is room for three entries between them. */
const roomForCounts = 5;
/* With less room than this for a label, nothing is shown after it. */
const narrowest = 12;

/** The marks before and after the label of an entry. */
export interface Mark {
  before: string;
  after: string;
}

const noMark = (): Mark => ({ before: '', after: '' });

/** A list with one highlighted entry; it shows as many entries as fit. */
export class EntryList {
  readonly entries: readonly Entry[];
  highlighted: number;
  /** True if the highlighted entry was cut when it was last drawn. */
  isCut = false;
  #top = 0;
  #shown = 1;
  #digits = '';

  constructor(entries: readonly Entry[], start: number) {
    this.entries = entries;
    this.highlighted = Math.min(Math.max(0, start), entries.length - 1);
  }

  /** Moves the highlight if the key does that; digits move it to the entry with that number. */
  move(stroke: string): void {
    this.#digits = this.#numberWith(stroke);
    const to = this.#digits === '' ? this.#target(stroke) : Number(this.#digits) - 1;
    if (to !== undefined) this.highlighted = to;
  }

  /** The list as lines. */
  lines(canvas: Canvas, mark: (index: number) => Mark = noMark): string[] {
    const height = (index: number): number => this.#entryLines(index, mark, canvas).length;
    const isWhole = this.#fits(height, canvas.rows);
    const showsCounts =
      !isWhole && canvas.rows >= roomForCounts && height(this.highlighted) <= canvas.rows - 2;
    const [from, to] = this.#window(height, canvas.rows - (showsCounts ? 2 : 0));
    this.#shown = to - from;
    const below = this.entries.length - to;
    const more = (text: string): string[] =>
      showsCounts ? [canvas.paint.hint(`    ${text} more…`)] : [];
    const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
    return [
      ...(from > 0 ? more(`↑ ${from}`) : []),
      ...indexes.flatMap((index) => this.#entryLines(index, mark, canvas)),
      ...(below > 0 ? more(`↓ ${below}`) : []),
    ];
  }

  /** Every entry in full. */
  fullLines(canvas: Canvas, mark: (index: number) => Mark = noMark): string[] {
    const endless = { ...canvas, rows: Infinity };
    return this.entries.flatMap((_, index) => this.#entryLines(index, mark, endless));
  }

  /* The digits typed so far if they are the number of an entry, else the last digit alone. */
  #numberWith(stroke: string): string {
    if (!/^\d$/.test(stroke)) return '';
    const isPlace = (digits: string): boolean =>
      Number(digits) >= 1 && Number(digits) <= this.entries.length;
    return [this.#digits + stroke, stroke].find(isPlace) ?? '';
  }

  #target(stroke: string): number | undefined {
    const at = this.highlighted;
    const last = this.entries.length - 1;
    switch (stroke) {
      case 'up':
      case 'k':
        return at === 0 ? last : at - 1;
      case 'down':
      case 'j':
        return at === last ? 0 : at + 1;
      case 'pageup':
        return Math.max(0, at - this.#shown);
      case 'pagedown':
        return Math.min(last, at + this.#shown);
      case 'home':
        return 0;
      case 'end':
        return last;
      default:
        return undefined;
    }
  }

  #fits(height: (index: number) => number, rows: number): boolean {
    let left = rows - this.entries.length;
    for (let index = 0; left >= 0 && index < this.entries.length; index++)
      left -= height(index) - 1;
    return left >= 0;
  }

  /* Rows go to the highlighted entry first, then to those after it, then to those before it. */
  #window(height: (index: number) => number, room: number): [from: number, to: number] {
    let from = this.highlighted;
    let left = room - height(from);
    while (from > 0 && from > this.#top && left >= height(from - 1)) left -= height(--from);
    let to = this.highlighted + 1;
    while (to < this.entries.length && left >= height(to)) left -= height(to++);
    while (from > 0 && left >= height(from - 1)) left -= height(--from);
    this.#top = from;
    return [from, to];
  }

  #entryLines(index: number, mark: (index: number) => Mark, canvas: Canvas): string[] {
    const entry = this.entries[index];
    if (entry === undefined) return [];
    const isHighlighted = index === this.highlighted && canvas.rows !== Infinity;
    const isOpen = isHighlighted || canvas.rows === Infinity;
    const { before, after: remark } = mark(index);
    const remarks = `${entry.isPreselected === true ? ' (preselected)' : ''}${remark}`;
    const after = canvas.columns - before.length - remarks.length < narrowest ? '' : remarks;
    const room = Math.max(8, canvas.columns - 4 - before.length - after.length);
    const label = isOpen ? fitInFull(entry.label, room, canvas.rows) : cut(entry.label, room);
    const lines = isOpen ? canvas.rows - label.lines.length : 1;
    const indent = Math.max(6, 4 + before.length);
    const description = describe(entry, isOpen, { columns: canvas.columns - indent, rows: lines });
    if (isHighlighted) this.isCut = label.isCut || description.isCut;
    const paint = isHighlighted ? canvas.paint.selected : (text: string) => text;
    const [first = '', ...rest] = label.lines;
    const pointer = isHighlighted ? '  ❯ ' : '    ';
    return [
      `${pointer}${before}${paint(first)}${after}`,
      ...rest.map((line) => `    ┊ ${paint(line)}`),
      ...description.lines.map(
        (line, row) => `${row === 0 ? ' '.repeat(indent) : '    ┊ '}${line}`,
      ),
    ];
  }
}

interface Fitted {
  lines: string[];
  isCut: boolean;
}

function cut(text: string, room: number): Fitted {
  return { lines: [fitOneLine(text, room)], isCut: true };
}

function describe(
  { description = '' }: Entry,
  isOpen: boolean,
  { columns, rows }: Pick<Canvas, 'columns' | 'rows'>,
): Fitted {
  if (description === '') return { lines: [], isCut: false };
  if (rows < 1) return { lines: [], isCut: true };
  return isOpen ? fitInFull(description, columns, rows) : cut(description, columns);
}

/* Uses all rows, so that the highlighted entry can be read in full before it is picked. */
function fitInFull(text: string, room: number, rows: number): Fitted {
  const most = Math.max(1, rows);
  const start = takeFirstUnits(text, room * most * 2);
  const lines = wrap(inertLine(start), room);
  if (lines.length === 1 && start === text) return { lines, isCut: false };
  const narrow = wrap(inertLine(start), room - 2);
  if (narrow.length <= most && start === text) return { lines: narrow, isCut: false };
  if (most === 1) return cut(text, room);
  const [last = ''] = wrap(narrow[most - 1] ?? '', room - 3);
  return { lines: [...narrow.slice(0, most - 1), `${last.trimEnd()}…`], isCut: true };
}
