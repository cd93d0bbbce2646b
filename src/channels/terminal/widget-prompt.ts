import type { Key } from './key.ts';
import { type Paint, paintFor } from './paint.ts';
import { Painter } from './painter.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { Canvas, Widget } from './widget.ts';

/* Shown when a key was ignored, if the screen has so many rows. */
const tooEarly = '  Just appeared: that key did not count, wait a moment';
const fewestRows = 3;

/** Shows one widget until it has an answer. An error that the widget throws ends it. */
export class WidgetPrompt<ANSWER extends object> {
  readonly #widget: Widget<ANSWER>;
  readonly #output: TerminalOutput;
  readonly #painter: Painter;
  readonly #paint: Paint;
  readonly #answer = Promise.withResolvers<ANSWER>();
  #isOver = false;
  #isHidden = false;
  #ignoredKey = false;

  constructor(widget: Widget<ANSWER>, output: TerminalOutput) {
    this.#widget = widget;
    this.#output = output;
    this.#painter = new Painter(output);
    this.#paint = paintFor(output);
  }

  /** Shows the widget until it has an answer; rejects with the reason that `cancel` was given. */
  async answer(): Promise<ANSWER> {
    this.#output.on('resize', this.#onResize);
    this.#repaint();
    return this.#answer.promise.finally(() => this.#output.off('resize', this.#onResize));
  }

  /** Whether letters are text now rather than commands. */
  get isTyping(): boolean {
    return this.#widget.isTyping === true;
  }

  /** Says, until the next key, that a key did not count. */
  ignore(key: Key): void {
    this.#orCancel(() => this.#widget.ignore?.(key));
    this.#ignoredKey = true;
    this.#repaint();
  }

  press(key: Key): void {
    if (this.#isOver) return;
    this.#ignoredKey = false;
    const answer = this.#orCancel(() => this.#widget.press(key, this.#canvas()));
    if (answer === undefined) this.#repaint();
    else this.#close(answer, () => this.#answer.resolve(answer));
  }

  /** Closes the widget without an answer. */
  cancel(reason: unknown): void {
    this.#close(undefined, () => this.#answer.reject(reason));
  }

  /** Removes the frame from the screen and moves the cursor back to its start. */
  hide(): void {
    if (this.#isOver || this.#isHidden) return;
    this.#isHidden = true;
    this.#painter.erase();
  }

  /** Draws the frame again, at the cursor's current position. */
  redraw(): void {
    if (this.#isOver) return;
    this.#isHidden = false;
    this.#painter.forget();
    this.#repaint();
  }

  readonly #onResize = (): void => {
    if (this.#isOver || this.#isHidden) return;
    this.#painter.erase();
    this.#repaint();
  };

  #repaint(): void {
    if (this.#isOver || this.#isHidden) return;
    this.#orCancel(() => this.#painter.draw(this.#lines()));
  }

  #close(answer: ANSWER | undefined, settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const lines = this.#orCancel(() => this.#widget.closingLines(answer, this.#canvas()));
    this.#painter.end(lines ?? []);
    settle();
  }

  #lines(): string[] {
    const canvas = this.#canvas();
    if (!this.#ignoredKey || canvas.rows < fewestRows) return this.#widget.lines(canvas);
    const lines = this.#widget.lines({ ...canvas, rows: canvas.rows - 1 });
    return [...lines, tooEarly.slice(0, canvas.columns)];
  }

  #orCancel<RESULT>(work: () => RESULT): RESULT | undefined {
    try {
      return work();
    } catch (error) {
      this.cancel(error);
      return undefined;
    }
  }

  #canvas(): Canvas {
    const { columns, rows } = this.#painter;
    return { columns, rows, paint: this.#paint, fold: 'none' };
  }
}
