import { setImmediate, setTimeout } from 'node:timers/promises';
import { UnansweredError } from './dialog.ts';
import { findGuard, type Key, KeyDecoder, type KeyGuard } from './keys.ts';
import { type Paint, paintFor, wrap } from './styled-text.ts';
import {
  emitThrown,
  enterRawMode,
  type RawTerminal,
  type TerminalOutput,
  type TerminalStreams,
} from './terminal-streams.ts';
import type { Canvas, Widget } from './widget.ts';

/* Milliseconds after which a SIGCONT that has not arrived does not come: nothing was stopped. */
const sigcontDelay = 250;

/**
 * A terminal in raw mode that shows one widget at a time. When the terminal ends or is lost, the open widget is cancelled. `close`
 * restores the terminal. No key answers what was announced and has just appeared.
 */
export class Screen {
  readonly #streams: TerminalStreams;
  readonly #signal: AbortSignal | undefined;
  readonly #guard: KeyGuard;
  readonly #keys = new KeyDecoder((key) => this.#press(key));
  readonly #terminal: RawTerminal;
  #open: Omit<WidgetPrompt<object>, 'answer'> | undefined;
  #end: { reason: unknown } | undefined;
  #isSuspended = false;
  #ignoresInput = false;

  constructor(streams: TerminalStreams, signal: AbortSignal | undefined) {
    this.#streams = streams;
    this.#signal = signal;
    const { input, output } = streams;
    this.#guard = findGuard(input);
    input.on('close', this.#onLost).on('error', this.#onLost);
    output.on('close', this.#onLost).on('error', this.#onLost);
    this.#terminal = enterRawMode(streams, {
      onEnd: this.#onLost,
      onContinue: this.#onContinue,
    });
    if (input.readableEnded || input.destroyed || !output.writable) this.#onLost();
    input.on('data', this.#onData).on('end', this.#onEnd);
    signal?.addEventListener('abort', this.#onAbort);
    input.resume();
  }

  /** Prints a line below the last frame. */
  print(line: string): void {
    const { output } = this.#streams;
    if (output.writable) emitThrown(output, () => output.write(`${line}\n`));
  }

  /** Shows a widget until it has an answer. Rejects with an `UnansweredError`, or with the signal's reason. */
  async show<ANSWER extends object>(widget: Widget<ANSWER>): Promise<ANSWER> {
    await this.#discardTyped();
    if (this.#end !== undefined) throw this.#end.reason;
    const prompt = new WidgetPrompt(widget, this.#streams.output);
    this.#open = prompt;
    try {
      const answer = prompt.answer();
      this.#startDeadTime();
      return await answer;
    } finally {
      this.#open = undefined;
    }
  }

  /** Announces a new display: it must be on the screen for a moment before any key counts. */
  announce(): void {
    this.#guard.announce();
  }

  /** True if this is the process's own terminal, which another program of the person's may use meanwhile. */
  get isOwn(): boolean {
    return this.#streams.input === process.stdin && this.#streams.output === process.stdout;
  }

  /** Hands the terminal to other work, such as an editor, until it has ended. */
  async outside<RESULT>(work: () => Promise<RESULT>): Promise<RESULT> {
    this.#ignoresInput = true;
    this.#streams.input.pause();
    this.#terminal.suspend();
    try {
      return await work();
    } finally {
      this.#terminal.resume();
      this.#streams.input.resume();
      await this.#resume();
    }
  }

  /** Restores the terminal. */
  async close(): Promise<void> {
    const { input, output } = this.#streams;
    this.#terminal[Symbol.dispose]();
    this.#keys[Symbol.dispose]();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    input.off('data', this.#onData).off('end', this.#onEnd);
    /* The error of a write to a closing stream is emitted only after this turn of the event loop. */
    await setImmediate();
    input.off('close', this.#onLost).off('error', this.#onLost);
    output.off('close', this.#onLost).off('error', this.#onLost);
  }

  readonly #onData = (chunk: Buffer | string): void => {
    if (!this.#ignoresInput) this.#keys.write(chunk);
  };
  readonly #onEnd = (): void =>
    this.#finish(new UnansweredError(this.#guard.isEarly ? 'unread' : 'ended'));
  readonly #onLost = (): void => this.#finish(new UnansweredError('lost'));
  readonly #onAbort = (): void => this.#finish(this.#signal?.reason);
  readonly #onContinue = (): void => {
    const { output } = this.#streams;
    /* If another process sent the stop signal, the cursor may be in the middle of a line. */
    if (!this.#isSuspended) emitThrown(output, () => output.write('\n\u001B[1G'));
    this.#isSuspended = false;
    void this.#resume();
  };

  /* Text that was typed at the shell must not answer the question. */
  async #resume(): Promise<void> {
    this.#ignoresInput = true;
    if (this.#open !== undefined) {
      this.#guard.announce();
      this.#open.redraw();
      this.#startDeadTime();
    }
    await this.#discardTyped();
    this.#keys.discardPaste();
    this.#ignoresInput = false;
  }

  /*
   * Stops the whole job, as a terminal does on Ctrl+Z. Only for the process's own terminal: a person connected by a socket must
   * not stop a server.
   */
  async #suspend(): Promise<void> {
    const isOwn = this.#streams.input === process.stdin;
    if (!isOwn || process.platform === 'win32' || this.#isSuspended) return;
    this.#isSuspended = true;
    this.#ignoresInput = true;
    this.#open?.hide();
    this.#terminal.suspend();
    process.kill(0, 'SIGTSTP');
    /* The process stops before this line. SIGCONT may reach it late, through another thread; without a shell it never comes. */
    await setTimeout(sigcontDelay);
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#terminal.resume();
    await this.#resume();
  }

  /* Text that was typed before the question was shown must not answer it: buffered input arrives within two turns of the event loop. */
  async #discardTyped(): Promise<void> {
    await setImmediate();
    await setImmediate();
  }

  /* Begins once the frame, and with it all that was written before, has left the process. */
  #startDeadTime(): void {
    const { announced } = this.#guard;
    if (announced === undefined) return;
    const { output } = this.#streams;
    const start = (error?: Error | null): void => {
      if (!error) this.#guard.startDeadTime(announced);
    };
    emitThrown(output, () => output.write('', start));
  }

  #press(key: Key): void {
    const isAccepted = this.#guard.accepts(key, this.#open?.isTyping === true);
    const name = key.type === 'stroke' ? key.name : '';
    if (name === 'ctrl+z') void this.#suspend();
    else if (this.#open === undefined) return;
    else if (name === 'ctrl+c' && isAccepted) this.#open.cancel(new UnansweredError('interrupted'));
    else if (name === 'ctrl+c' || name === 'ctrl+d')
      this.#finish(new UnansweredError(isAccepted ? 'ended' : 'unread'));
    else if (isAccepted) this.#open.press(key);
    else this.#open.ignore(key);
  }

  #finish(reason: unknown): void {
    this.#end ??= { reason };
    this.#open?.cancel(reason);
  }
}

/* Shown when a key was ignored, if the screen has so many rows. */
const tooEarly = '  Just appeared: that key did not count, wait a moment';
const fewestRows = 3;

/** Shows one widget until it has an answer. An error that the widget throws ends it. */
class WidgetPrompt<ANSWER extends object> {
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

  /** True if letters are text now rather than commands. */
  get isTyping(): boolean {
    return this.#widget.isTyping === true;
  }

  /** Shows, until the next key, that a key did not count. */
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

const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';
const eraseBelow = '\u001B[1G\u001B[J';

/** Draws frames on a terminal, each in place of the one before. The cursor is hidden, at the end of the frame. */
class Painter {
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
