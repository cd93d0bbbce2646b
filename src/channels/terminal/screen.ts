import { setImmediate } from 'node:timers/promises';
import { attemptOn } from './attempt-on.ts';
import { Departure } from './departure.ts';
import { type Key, KeyDecoder } from './key.ts';
import { type TakenTerminal, takeTerminal } from './restore.ts';
import type { TerminalStreams } from './terminal-options.ts';
import type { Widget } from './widget.ts';
import { WidgetRun } from './widget-run.ts';

/**
 * A terminal taken for questions, one widget at a time. Whatever happens to it ends the one that is open, and
 * `close` gives it back as it was.
 */
export class Screen {
  readonly #streams: TerminalStreams;
  readonly #signal: AbortSignal | undefined;
  readonly #keys = new KeyDecoder((key) => this.#take(key));
  readonly #terminal: TakenTerminal;
  #run: Pick<WidgetRun<object>, 'press' | 'leave' | 'hide' | 'redraw'> | undefined;
  #end: { reason: unknown } | undefined;
  #isSuspended = false;
  #isDeaf = false;

  constructor(streams: TerminalStreams, signal: AbortSignal | undefined) {
    this.#streams = streams;
    this.#signal = signal;
    const { input, output } = streams;
    input.on('close', this.#onLost).on('error', this.#onLost);
    output.on('close', this.#onLost).on('error', this.#onLost);
    this.#terminal = takeTerminal(streams, {
      onEnd: this.#onLost,
      onContinue: this.#onContinue,
    });
    if (input.readableEnded || input.destroyed || !output.writable) this.#onLost();
    input.on('data', this.#onData).on('end', this.#onEnd);
    signal?.addEventListener('abort', this.#onAbort);
    input.resume();
  }

  /** Writes a line of our own below what was shown last. */
  print(line: string): void {
    const { output } = this.#streams;
    if (output.writable) attemptOn(output, () => output.write(`${line}\n`));
  }

  /** Shows a widget until it has an answer. Rejects with a `Departure`, or with the reason of the signal. */
  async show<ANSWER extends object>(widget: Widget<ANSWER>): Promise<ANSWER> {
    await this.#forgetTyped();
    if (this.#end !== undefined) throw this.#end.reason;
    const run = new WidgetRun(widget, this.#streams.output);
    this.#run = run;
    try {
      return await run.answer();
    } finally {
      this.#run = undefined;
    }
  }

  /** Gives the terminal back. */
  async close(): Promise<void> {
    const { input, output } = this.#streams;
    this.#terminal[Symbol.dispose]();
    this.#keys[Symbol.dispose]();
    this.#signal?.removeEventListener('abort', this.#onAbort);
    input.off('data', this.#onData).off('end', this.#onEnd);
    /* A write to what is closing fails only after this turn. */
    await setImmediate();
    input.off('close', this.#onLost).off('error', this.#onLost);
    output.off('close', this.#onLost).off('error', this.#onLost);
  }

  readonly #onData = (chunk: Buffer | string): void => {
    if (!this.#isDeaf) this.#keys.write(chunk);
  };
  readonly #onEnd = (): void => this.#over(new Departure('ended'));
  readonly #onLost = (): void => this.#over(new Departure('lost'));
  readonly #onAbort = (): void => this.#over(this.#signal?.reason);
  readonly #onContinue = (): void => {
    const { output } = this.#streams;
    /* Stopped by somebody else, the cursor may be in the middle of a line. */
    if (!this.#isSuspended) attemptOn(output, () => output.write('\n\u001B[1G'));
    this.#isSuspended = false;
    void this.#resume();
  };

  /* What was typed at the shell is no answer. */
  async #resume(): Promise<void> {
    this.#isDeaf = true;
    this.#run?.redraw();
    await this.#forgetTyped();
    this.#keys.forget();
    this.#isDeaf = false;
  }

  /*
   * As a terminal does at Ctrl+Z: all of the job is stopped, and the shell takes over. Only at the process's own terminal:
   * a person at the far end of a socket must not stop a server.
   */
  async #suspend(): Promise<void> {
    const isOwn = this.#streams.input === process.stdin;
    if (!isOwn || process.platform === 'win32' || this.#isSuspended) return;
    this.#isSuspended = true;
    this.#isDeaf = true;
    this.#run?.hide();
    this.#terminal.lend();
    process.kill(0, 'SIGTSTP');
    /* A shell that continues it is heard within these. Without a shell nothing has stopped. */
    await this.#forgetTyped();
    await setImmediate();
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    this.#terminal.take();
    await this.#resume();
  }

  /* What was typed before the question could be read does not answer it: two turns take in all that had come. */
  async #forgetTyped(): Promise<void> {
    await setImmediate();
    await setImmediate();
  }

  #take(key: Key): void {
    const name = key.type === 'stroke' ? key.name : '';
    if (name === 'ctrl+z') void this.#suspend();
    else if (name === 'ctrl+c') this.#run?.leave(new Departure('interrupted'));
    else if (name === 'ctrl+d' && this.#run !== undefined) this.#over(new Departure('ended'));
    else this.#run?.press(key);
  }

  #over(reason: unknown): void {
    this.#end ??= { reason };
    this.#run?.leave(reason);
  }
}
