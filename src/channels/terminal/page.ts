import { firstUnits, textLines } from './fit-text.ts';
import type { Paint } from './paint.ts';

const longestText = 1_000;
const mostTextLines = 20;

/** What is asked about, written line by line above the frame, for one width; folded, or in full. */
export class Page {
  readonly columns: number;
  readonly paint: Paint;
  readonly isFolding: boolean;
  readonly lines: string[] = [];
  /** Whether something was left out, which the `v` key shows. */
  hasFolded = false;

  constructor({ columns, paint, isFolding }: Pick<Page, 'columns' | 'paint' | 'isFolding'>) {
    this.columns = columns;
    this.paint = paint;
    this.isFolding = isFolding;
  }

  add(...lines: string[]): void {
    this.addAll(lines);
  }

  /** As many as there are: as arguments, a hundred thousand lines would not fit on the stack. */
  addAll(lines: readonly string[]): void {
    for (const line of lines) this.lines.push(line);
  }

  /** Somebody's text, however long. */
  text(text: string, paint: (line: string) => string = (line) => line): void {
    const isLong = text.length > longestText || text.split('\n').length > mostTextLines;
    if (!isLong || !this.isFolding) {
      for (const line of textLines(text, this.columns)) this.lines.push(paint(line));
      return;
    }
    const start = textLines(firstUnits(text, longestText / 2), this.columns);
    this.add(...start.slice(0, mostTextLines / 2).map(paint), this.folded(text.length));
  }

  /** What stands where something is left out. */
  folded(length: number, prefix = ''): string {
    this.hasFolded = true;
    const note = `… ${length.toLocaleString('en')} characters in all, v shows them`;
    return `${prefix}${this.paint.faint(note)}`;
  }
}

/** Writes what is asked about. */
export type Content = (page: Page) => void;
