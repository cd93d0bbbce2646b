import { Readable } from 'node:stream';
import { isCancel, Prompt } from '@clack/core';
import { Departure } from './departure.ts';
import { Easel } from './easel.ts';
import { wrap } from './fit-text.ts';
import type { Key } from './key.ts';
import { type Paint, paintFor } from './paint.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { Canvas, Widget } from './widget.ts';

/**
 * One widget on the screen. Clack paints and repaints it. Keys are not Clack's: it would take Esc for the end, never
 * settle at Ctrl+D, and submit at each line of a paste. It is only told that there is something new to paint.
 */
export class WidgetRun<ANSWER extends object> {
  readonly #widget: Widget<ANSWER>;
  readonly #easel: Easel;
  readonly #paint: Paint;
  readonly #news = new Readable({ read() {} });
  readonly #prompt: Prompt<ANSWER>;
  #departure: { reason: unknown } | undefined;
  #shown = '';
  #isHidden = false;

  constructor(widget: Widget<ANSWER>, output: TerminalOutput) {
    this.#widget = widget;
    this.#easel = new Easel(output, () => this.#resized());
    this.#paint = paintFor(output);
    const render = (): string => this.#frame();
    const ends = { input: this.#news, output: this.#easel };
    this.#prompt = new Prompt<ANSWER>({ ...ends, render }, false);
  }

  /** Shows the widget until it has an answer; rejects with what `leave` was given. */
  async answer(): Promise<ANSWER> {
    const answer = await this.#prompt.prompt().finally(() => this.#easel.leave());
    if (this.#departure !== undefined) throw this.#departure.reason;
    if (answer === undefined || isCancel(answer)) throw new Departure('lost');
    return answer;
  }

  press(key: Key): void {
    if (this.#isOver) return;
    this.#orLeave(() => {
      const answer = this.#widget.press(key, this.#canvas());
      if (answer === undefined) return;
      this.#prompt.value = answer;
      this.#prompt.state = 'submit';
    });
    this.#repaint();
  }

  /** Closes the widget without an answer. */
  leave(reason: unknown): void {
    if (this.#isOver) return;
    this.#departure = { reason };
    this.#prompt.state = 'cancel';
    this.#repaint();
  }

  /** Takes the frame off the screen, and the cursor to where it was. */
  hide(): void {
    if (this.#isOver) return;
    this.#isHidden = true;
    this.#repaint();
    this.#easel.write('\u001B[1G');
  }

  /** Draws the frame anew, where the cursor is now. */
  redraw(): void {
    if (this.#isOver) return;
    this.#easel.isMuted = true;
    this.#isHidden = true;
    this.#repaint();
    this.#easel.isMuted = false;
    this.#isHidden = false;
    this.#easel.write('\u001B[?25l');
    this.#repaint();
  }

  /* As many rows up as the frame may have now. Too few would leave a second highlight above the true one. */
  #resized(): void {
    if (this.#isOver || this.#isHidden) return;
    const { columns, rows } = this.#easel;
    const lines = this.#shown.split('\n').flatMap((line) => wrap(line, columns));
    const up = Math.min(lines.length, rows) - 1;
    this.#easel.write(`${up > 0 ? `\u001B[${up}A` : ''}\u001B[1G\u001B[J`);
    this.redraw();
  }

  get #isOver(): boolean {
    return this.#prompt.state === 'submit' || this.#prompt.state === 'cancel';
  }

  #repaint(): void {
    this.#news.emit('keypress', undefined, {});
  }

  #frame(): string {
    /* Not empty: what Clack takes for a line that stays it moves over, past the end of the screen. */
    if (this.#isHidden && !this.#isOver) return ' ';
    const frame = this.#orLeave(() => this.#lines())?.join('\n') ?? '';
    if (this.#isOver) this.#easel.leavesLine = frame !== '';
    /* Where lines only came or went at the end, Clack moves past the end of the screen: the first one is made to differ. */
    const isPrefix = frame.startsWith(`${this.#shown}\n`) || this.#shown.startsWith(`${frame}\n`);
    this.#shown = isPrefix ? `\u001B[0m${frame}` : frame;
    return this.#shown;
  }

  #lines(): string[] | undefined {
    const canvas = this.#canvas();
    return this.#isOver
      ? this.#widget.closingLines(this.#prompt.value, canvas)
      : this.#widget.lines(canvas);
  }

  /* Thrown inside Clack, an error would leave the prompt open for good. */
  #orLeave<RESULT>(work: () => RESULT): RESULT | undefined {
    try {
      return work();
    } catch (error) {
      queueMicrotask(() => this.leave(error));
    }
  }

  #canvas(): Canvas {
    const { columns, rows } = this.#easel;
    return { columns, rows, paint: this.#paint, fold: 'none' };
  }
}
