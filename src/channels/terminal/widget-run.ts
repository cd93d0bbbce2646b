import { Readable } from 'node:stream';
import { isCancel, Prompt } from '@clack/core';
import { Departure } from './departure.ts';
import { Easel } from './easel.ts';
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

  constructor(widget: Widget<ANSWER>, output: TerminalOutput) {
    this.#widget = widget;
    this.#easel = new Easel(output);
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

  get #isOver(): boolean {
    return this.#prompt.state === 'submit' || this.#prompt.state === 'cancel';
  }

  #repaint(): void {
    this.#news.emit('keypress', undefined, {});
  }

  #frame(): string {
    const { state, value } = this.#prompt;
    if (state === 'cancel') return '';
    return (
      this.#orLeave(() => {
        const canvas = this.#canvas();
        if (state === 'submit' && value !== undefined)
          return this.#widget.closingLines(value, canvas);
        return this.#widget.lines(canvas);
      })?.join('\n') ?? ''
    );
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
    return { columns, rows, paint: this.#paint };
  }
}
