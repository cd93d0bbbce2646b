import { foldParts, linesOf, linesPart, type Part } from './fold-parts.ts';
import { textLines } from './fit-text.ts';
import type { Paint } from './paint.ts';

/** What is asked about, written part by part for one width. */
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
    this.#lines ??= linesOf(this.#parts);
    return this.#lines;
  }

  /** The lines that so many rows have room for, and how many more there are. `key`: what shows those. */
  folded(rows: number, key?: string): { lines: string[]; hidden: number } {
    let hidden = 0;
    const lines = foldParts(this.#parts, Math.max(0, rows), (count, indent) => {
      hidden += count;
      return ' '.repeat(indent) + this.paint.faint(signOf(count, this.columns - indent, key));
    });
    return { lines, hidden: rows <= 0 ? this.lines.length : hidden };
  }

  add(...lines: string[]): void {
    this.addPart(linesPart(lines));
  }

  addPart(part: Part): void {
    this.#parts.push(part);
    this.#lines = undefined;
  }

  /** Which of several it is, where it is one. */
  place(place: string | undefined): void {
    if (place === undefined) return;
    this.add('');
    this.add(this.paint.faint(place));
  }

  /** Somebody's text, however long. */
  text(text: string, paint: (line: string) => string = (line) => line): void {
    this.addPart(linesPart(textLines(text, this.columns).map(paint)));
  }
}

/* In few letters where there is little room: the key must not be what is cut. */
function signOf(count: number, columns: number, key: string | undefined): string {
  const more = `… ${count.toLocaleString('en')} more`;
  const inFull = `${more} lines${key === undefined ? '' : `, ${key} shows them`}`;
  if (inFull.length <= columns) return inFull;
  return `${more}${key === undefined ? '' : `, ${key}`}`.slice(0, columns);
}

/** Writes what is asked about. */
export type Content = (page: Page) => void;
