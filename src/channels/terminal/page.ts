import { inertLine } from '../../content/inert-text.ts';
import { lookAlikeWarnings } from '../../content/look-alikes.ts';
import { renderAsker } from '../../content/request-text.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { foldParts, listLines, makeLinesPart, type Part } from './fold-parts.ts';
import { fitTextLines, wrap } from './fit-text.ts';
import type { Paint } from './paint.ts';

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

  /** The lines that fit into so many rows, and the number of hidden ones. `key`: the key that shows those. */
  folded(rows: number, key?: string): { lines: string[]; hidden: number } {
    let hidden = 0;
    const lines = foldParts(this.#parts, Math.max(0, rows), (count, indent) => {
      hidden += count;
      return ' '.repeat(indent) + this.paint.faint(foldText(count, this.columns - indent, key));
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

  /** Adds which of several requests this is, as `2 of 3`; nothing for `undefined`. */
  position(position: string | undefined): void {
    if (position === undefined) return;
    this.add('');
    this.add(this.paint.faint(position));
  }

  /** Adds who asks; nothing for a request of the thread's own agent without a `requestedBy`. */
  asker(request: Parameters<typeof renderAsker>[0]): void {
    this.facts(renderAsker(request));
  }

  /** Adds what in the requests may be taken for something else; mostly nothing. */
  warnings(requests: readonly UserInputRequest[]): void {
    this.facts(lookAlikeWarnings(requests), this.paint.warning);
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

/* Short if there is little room: the key must not be cut off. */
function foldText(count: number, columns: number, key: string | undefined): string {
  const more = `… ${count.toLocaleString('en')} more`;
  const inFull = `${more} lines${key === undefined ? '' : `, ${key} shows them`}`;
  if (inFull.length <= columns) return inFull;
  return `${more}${key === undefined ? '' : `, ${key}`}`.slice(0, columns);
}

/** Writes the text of a request on a page. */
export type Content = (page: Page) => void;

/** Adds whose answer is taken, next to the choices; nothing if nobody is named. */
export function addAnswerer(content: Content, person: string | undefined): Content {
  if (person === undefined) return content;
  return (page) => {
    content(page);
    page.facts([`Answering as ${inertLine(person)}`]);
    page.add('');
  };
}
