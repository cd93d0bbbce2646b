import { createInterface } from 'node:readline/promises';
import { styleText } from 'node:util';
import { inertText } from 'holdpoint';

/** Nothing more will be typed: Ctrl+C, Ctrl+D, `/quit`, or the end of a pipe. */
export class InputEnded extends Error {}

/** Lines from a person, or from a pipe in the order they came, and lines to them. */
export class Terminal implements Disposable {
  readonly #typed = process.stdin.isTTY;
  readonly #readline = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: process.stdin.isTTY && process.stdout.isTTY,
  });
  readonly #interruption = new AbortController();
  readonly #lines: string[] = [];
  #ended = false;
  #wake = (): void => {};

  constructor() {
    this.#readline.on('line', (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    this.#readline.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
    this.#readline.once('SIGINT', () => this.#interrupt());
    process.once('SIGINT', () => this.#interrupt());
  }

  /** Aborts at Ctrl+C: for what runs while nobody is asked. */
  get signal(): AbortSignal {
    return this.#interruption.signal;
  }

  /** Writes lines of our own. What others wrote goes through `inertText` first. */
  print(...lines: string[]): void {
    for (const line of lines) process.stdout.write(`${line}\n`);
  }

  /** Writes what somebody says: many lines perhaps, and nothing in them that a terminal would obey. */
  say(who: string, text: string): void {
    if (text.trim() === '') return;
    this.print(
      ...text.split('\n').map((line, index) => `${index === 0 ? who : ' '} ${inertText(line)}`),
    );
  }

  /**
   * The next line, trimmed; throws `InputEnded` where there is none. With `afterwards`, a line that was typed
   * before the question was on the screen does not answer it.
   */
  async ask(question: string, { afterwards = false } = {}): Promise<string> {
    if (afterwards && this.#typed) this.#lines.length = 0;
    this.#prompt(question);
    while (this.#lines.length === 0 && !this.#ended) {
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const line = this.signal.aborted ? undefined : this.#lines.shift();
    if (line === undefined) {
      this.print('');
      throw new InputEnded();
    }
    if (!this.#typed) this.print(inertText(line));
    return line.trim();
  }

  [Symbol.dispose](): void {
    this.#readline.close();
  }

  #prompt(question: string): void {
    if (this.#typed && !this.#ended) {
      this.#readline.setPrompt(question);
      this.#readline.prompt();
    } else process.stdout.write(question);
  }

  #interrupt(): void {
    this.#interruption.abort(new InputEnded());
    this.#readline.close();
  }
}

/** Bold, where the terminal has it. */
export function bold(text: string): string {
  return styleText('bold', text);
}

/** Faint, where the terminal has it. */
export function faint(text: string): string {
  return styleText('dim', text);
}
