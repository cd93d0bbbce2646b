import { inertLine } from '../../content/inert-text.ts';
import { firstUnits, oneLine, wrap } from './fit-text.ts';
import type { Canvas, Entry } from './widget.ts';

/* The question, the hint, a blank line after each, and the two lines that say how much more there is. */
const linesAround = 6;

/** Whether there is no room for more than the entries themselves. */
export function isTiny({ rows }: Canvas): boolean {
  return rows < linesAround + 2;
}

/** A list with one highlighted entry, as much of it as there are rows for. */
export class EntryList {
  readonly entries: readonly Entry[];
  highlighted: number;
  #top = 0;
  #shown = 1;

  constructor(entries: readonly Entry[], start: number) {
    this.entries = entries;
    this.highlighted = Math.min(Math.max(0, start), entries.length - 1);
  }

  /** Moves the highlight, when the stroke is one that does. */
  move(stroke: string): void {
    const last = this.entries.length - 1;
    const to = this.#target(stroke, last);
    if (to !== undefined) this.highlighted = to;
  }

  /** The list as lines; `mark` stands before the label. */
  lines(canvas: Canvas, mark: (index: number) => string = () => ''): string[] {
    const room = Math.max(1, canvas.rows - (isTiny(canvas) ? 1 : linesAround));
    const height = (index: number): number => this.#entryLines(index, mark, canvas).length;
    const [from, to] = this.#window(height, room);
    this.#shown = to - from;
    const below = this.entries.length - to;
    const more = isTiny(canvas)
      ? () => []
      : (text: string) => [canvas.paint.faint(`    ${text} more…`)];
    const indexes = Array.from({ length: to - from }, (_, offset) => from + offset);
    return [
      ...(from > 0 ? more(`↑ ${from}`) : []),
      ...indexes.flatMap((index) => this.#entryLines(index, mark, canvas)),
      ...(below > 0 ? more(`↓ ${below}`) : []),
    ];
  }

  #target(stroke: string, last: number): number | undefined {
    const at = this.highlighted;
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

  /* The window moves no further than the highlight makes it, and leaves no row empty that could show an entry. */
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

  #entryLines(index: number, mark: (index: number) => string, canvas: Canvas): string[] {
    const entry = this.entries[index];
    if (entry === undefined) return [];
    const isHighlighted = index === this.highlighted;
    const start = mark(index);
    const room = canvas.columns - 4 - start.length;
    const tail = entry.isPreselected === true ? canvas.paint.faint(' (preselected)') : '';
    const [label = '', ...rest] = isHighlighted
      ? inFull(entry.label, room, canvas)
      : [oneLine(entry.label, room)];
    const first = isHighlighted ? canvas.paint.selected(label) : label;
    return [
      `${isHighlighted ? '  ❯ ' : '    '}${start}${first}${tail}`,
      ...rest.map((line) => `    ┊ ${canvas.paint.selected(line)}`),
      ...descriptionLines(entry, isHighlighted, canvas),
    ];
  }
}

function descriptionLines(
  { description = '' }: Entry,
  isHighlighted: boolean,
  canvas: Canvas,
): string[] {
  if (description === '') return [];
  const room = canvas.columns - 6;
  const lines = isHighlighted ? inFull(description, room, canvas) : [oneLine(description, room)];
  return lines.map((line, index) =>
    canvas.paint.faint(`${index === 0 ? '      ' : '    ┊ '}${line}`),
  );
}

/* As many lines as a third of the screen, so that what is highlighted can be read whole before it is picked. */
function inFull(text: string, room: number, canvas: Canvas): string[] {
  const most = Math.max(1, Math.floor((canvas.rows - linesAround) / 3));
  const start = firstUnits(text, room * most * 2);
  const lines = wrap(inertLine(start), most === 1 ? room : room - 2);
  if (lines.length <= most && start === text) return lines;
  return most === 1
    ? [oneLine(text, room)]
    : [...lines.slice(0, most - 1), `${oneLine(lines[most - 1] ?? '', room - 3)}…`];
}
