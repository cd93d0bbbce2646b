import { Readable } from 'node:stream';
import { isCancel, Prompt } from '@clack/core';
import { UnansweredError } from './dialog.ts';
import { ClackOutput } from './clack-output.ts';
import { wrap } from './fit-text.ts';
import type { Key } from './key.ts';
import { type Paint, paintFor } from './paint.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { Canvas, Widget } from './widget.ts';

/* Shown when a key was ignored, if the screen has so many rows. */
const tooEarly = '  Just appeared: that key did not count, wait a moment';
const fewestRows = 3;

/**
 * A Clack prompt that shows one widget. Clack only paints it; the keys go to the widget, because Clack would cancel on Esc, never
 * resolve on Ctrl+D, and submit at each line of a paste.
 */
export class WidgetPrompt<ANSWER extends object> {
  readonly #widget: Widget<ANSWER>;
  readonly #output: ClackOutput;
  readonly #paint: Paint;
  /* Clack repaints at each `keypress` event of its input. */
  readonly #clackInput = new Readable({ read() {} });
  readonly #prompt: Prompt<ANSWER>;
  #cancelled: { reason: unknown } | undefined;
  #shown = '';
  #isHidden = false;
  #ignoredKey = false;

  constructor(widget: Widget<ANSWER>, output: TerminalOutput) {
    this.#widget = widget;
    this.#output = new ClackOutput(output, () => this.#resized());
    this.#paint = paintFor(output);
    const render = (): string => this.#frame();
    const streams = { input: this.#clackInput, output: this.#output };
    this.#prompt = new Prompt<ANSWER>({ ...streams, render }, false);
  }

  /** Shows the widget until it has an answer; rejects with the reason that `cancel` was given. */
  async answer(): Promise<ANSWER> {
    const answer = await this.#prompt.prompt().finally(() => this.#output.detach());
    if (this.#cancelled !== undefined) throw this.#cancelled.reason;
    if (answer === undefined || isCancel(answer)) throw new UnansweredError('lost');
    return answer;
  }

  /** Whether letters are text now rather than commands. */
  get isTyping(): boolean {
    return this.#widget.isTyping === true;
  }

  /** Says, until the next key, that a key did not count. */
  ignore(key: Key): void {
    if (this.#isOver) return;
    this.#orCancel(() => this.#widget.ignore?.(key));
    this.#ignoredKey = true;
    this.#repaint();
  }

  press(key: Key): void {
    if (this.#isOver) return;
    this.#ignoredKey = false;
    this.#orCancel(() => {
      const answer = this.#widget.press(key, this.#canvas());
      if (answer === undefined) return;
      this.#prompt.value = answer;
      this.#prompt.state = 'submit';
    });
    this.#repaint();
  }

  /** Closes the widget without an answer. */
  cancel(reason: unknown): void {
    if (this.#isOver) return;
    this.#cancelled = { reason };
    this.#prompt.state = 'cancel';
    this.#repaint();
  }

  /** Removes the frame from the screen and moves the cursor back to its start. */
  hide(): void {
    if (this.#isOver) return;
    this.#isHidden = true;
    this.#repaint();
    this.#output.write('\u001B[1G');
  }

  /** Draws the frame again, at the cursor's current position. */
  redraw(): void {
    if (this.#isOver) return;
    this.#output.isMuted = true;
    this.#isHidden = true;
    this.#repaint();
    this.#output.isMuted = false;
    this.#isHidden = false;
    this.#output.write('\u001B[?25l');
    this.#repaint();
  }

  /* Moves up as many rows as the frame may have now. Too few would leave a second, stale highlight on the screen. */
  #resized(): void {
    if (this.#isOver || this.#isHidden) return;
    const { columns, rows } = this.#output;
    const lines = this.#shown.split('\n').flatMap((line) => wrap(line, columns));
    const up = Math.min(lines.length, rows) - 1;
    this.#output.write(`${up > 0 ? `\u001B[${up}A` : ''}\u001B[1G\u001B[J`);
    this.redraw();
  }

  get #isOver(): boolean {
    return this.#prompt.state === 'submit' || this.#prompt.state === 'cancel';
  }

  #repaint(): void {
    this.#clackInput.emit('keypress', undefined, {});
  }

  #frame(): string {
    /* Not empty: Clack would move the cursor over a line that it believes unchanged, past the end of the screen. */
    if (this.#isHidden && !this.#isOver) return ' ';
    const frame = this.#orCancel(() => this.#lines())?.join('\n') ?? '';
    if (this.#isOver) this.#output.endsLine = frame !== '';
    /* If only lines at the end differ, Clack moves the cursor past the end of the screen: so the first line is changed too. */
    const isPrefix = frame.startsWith(`${this.#shown}\n`) || this.#shown.startsWith(`${frame}\n`);
    this.#shown = isPrefix ? `\u001B[0m${frame}` : frame;
    return this.#shown;
  }

  #lines(): string[] | undefined {
    const canvas = this.#canvas();
    if (this.#isOver) return this.#widget.closingLines(this.#prompt.value, canvas);
    if (!this.#ignoredKey || canvas.rows < fewestRows) return this.#widget.lines(canvas);
    const lines = this.#widget.lines({ ...canvas, rows: canvas.rows - 1 });
    return [...lines, tooEarly.slice(0, canvas.columns)];
  }

  /* An error thrown inside Clack would leave the prompt open forever. */
  #orCancel<RESULT>(work: () => RESULT): RESULT | undefined {
    try {
      return work();
    } catch (error) {
      queueMicrotask(() => this.cancel(error));
    }
  }

  #canvas(): Canvas {
    const { columns, rows } = this.#output;
    return { columns, rows, paint: this.#paint, fold: 'none' };
  }
}
