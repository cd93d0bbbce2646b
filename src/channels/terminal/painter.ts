import { wrap } from './styled-text.ts';
import { emitThrown, type TerminalOutput } from './terminal-streams.ts';

const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
const eraseBelow = '\u001B[1G\u001B[J';

/** Draws frames on a terminal, each in place of the one before. The cursor is hidden, at the end of the frame. */
export class Painter {
  readonly #output: TerminalOutput;
  /* The rows of the frame on the screen. */
  #drawn: readonly string[] = [];

  constructor(output: TerminalOutput) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns ?? 80;
  }

  get rows(): number {
    return this.#output.rows ?? 20;
  }

  /** Draws a frame, from the first row that differs from the frame before. */
  draw(lines: readonly string[]): void {
    const before = this.#drawn;
    const rows = lines.flatMap((line) => wrap(line, this.columns));
    let from = 0;
    while (from < before.length && rows[from] === before[from]) from += 1;
    if (from === before.length && from === rows.length) return;
    from = Math.max(0, Math.min(from, rows.length - 1, before.length - 1));
    const up = before.length - 1 - from;
    /* Rows that have scrolled away can't be redrawn. */
    if (up >= this.rows) {
      this.erase();
      this.draw(lines);
      return;
    }
    this.#drawn = rows;
    const start = before.length === 0 ? hideCursor : `${moveUp(up)}${eraseBelow}`;
    this.#write(start + rows.slice(from).join('\n'));
  }

  /**
   * Removes the frame and moves the cursor to its start. After a resize the frame may have more rows than were drawn: with too few, a
   * second, stale highlight would stay on the screen.
   */
  erase(): void {
    const rows = this.#drawn.flatMap((row) => wrap(row, this.columns));
    this.forget();
    this.#write(`${moveUp(Math.min(rows.length, this.rows) - 1)}${eraseBelow}`);
  }

  /** Keeps the screen as it is: the next frame begins at the cursor's current position. */
  forget(): void {
    this.#drawn = [];
  }

  /** Draws the last frame, which stays on the screen, and shows the cursor below it. */
  end(lines: readonly string[]): void {
    if (lines.length === 0) this.erase();
    else this.draw(lines);
    this.#write(`${lines.length === 0 ? '' : '\n'}${showCursor}`);
  }

  #write(text: string): void {
    emitThrown(this.#output, () => this.#output.write(text));
  }
}

function moveUp(rows: number): string {
  return rows > 0 ? `\u001B[${rows}A` : '';
}
