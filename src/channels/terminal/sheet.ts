import type { Key } from './key.ts';
import type { Subject } from './subject.ts';
import type { Canvas, Widget } from './widget.ts';

/**
 * What is asked about, above what answers it, in the rows that the screen has. The answer has what it needs first, but at
 * least half of the screen is for what is asked about.
 */
export class Sheet<ANSWER extends object> implements Widget<ANSWER> {
  readonly #subject: Subject;
  readonly #answering: Widget<ANSWER>;
  #fold: Canvas['fold'] = 'none';

  constructor(subject: Subject, answering: Widget<ANSWER>) {
    this.#subject = subject;
    this.#answering = answering;
  }

  lines(canvas: Canvas): string[] {
    const whole = this.#drawn(canvas, 'none');
    if (whole.hidden === 0) this.#subject.isRead = true;
    if (whole.hidden === 0 && this.#answering.isCut !== true) return whole.lines;
    return this.#drawn(canvas, this.#subject.isRead ? 'read' : 'unread').lines;
  }

  press(key: Key, canvas: Canvas): ANSWER | undefined {
    return this.#answering.press(key, { ...canvas, fold: this.#fold });
  }

  closingLines(answer: ANSWER | undefined, canvas: Canvas): string[] | undefined {
    const lines = this.#answering.closingLines(answer, canvas);
    if (lines === undefined) return undefined;
    const rows = canvas.rows - lines.length - 1;
    return [...this.#subject.page(canvas).folded(rows).lines, ...lines];
  }

  #drawn(canvas: Canvas, fold: Canvas['fold']): { lines: string[]; hidden: number } {
    this.#fold = fold;
    const page = this.#subject.page(canvas);
    const wanted = Math.min(page.lines.length, Math.floor(canvas.rows / 2));
    const lines = this.#answering.lines({ ...canvas, rows: canvas.rows - wanted, fold });
    const canUnfold = this.#answering.isTyping !== true;
    const shown = page.folded(canvas.rows - lines.length, canUnfold ? 'v' : undefined);
    return { lines: [...shown.lines, ...lines], hidden: shown.hidden };
  }
}
