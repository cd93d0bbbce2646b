import { styleText } from 'node:util';
import { inertText, type UserInputRequestContent, type UserInputResponseContent } from 'holdpoint';
import { terminalUserInterface } from 'holdpoint/terminal';
import { askHere } from '../ask-here.ts';
import { wrapLine } from './wrap-line.ts';

/** The person has left the program: Ctrl+C, `/quit`, or the end of a pipe. */
export class LeftError extends Error {}

/** The person at the terminal. They can leave at any prompt, which throws `LeftError`. */
export class Person {
  readonly #leaving = new AbortController();
  readonly #terminal = terminalUserInterface({ signal: this.#leaving.signal });
  readonly #acceptLines: boolean;

  /** With `acceptLines`, the lines of a pipe may answer, as in a test. */
  constructor({ acceptLines = false } = {}) {
    this.#acceptLines = acceptLines;
    process.on('SIGINT', () => this.#leaving.abort(new LeftError()));
  }

  /** Aborts on Ctrl+C while nothing is asked. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Prints lines of the demo, wrapped between words. Untrusted text must go through `inertText` first. */
  print(...lines: string[]): void {
    for (const line of lines) console.log(wrapLine(line, process.stdout));
  }

  /** Prints an untrusted message with its sender; control characters are made inert. */
  printMessage(who: string, text: string): void {
    if (text.trim() === '') return;
    const [first = '', ...rest] = inertText(text).split('\n');
    this.print('', `${styleText('bold', who)} ${first}`, ...rest);
  }

  /** Asks for approvals and answers. Leaves where there is no terminal to ask at; the requests are kept. */
  async ask(requests: readonly UserInputRequestContent[]): Promise<UserInputResponseContent[]> {
    this.print('');
    const { signal } = this;
    const answers = await askHere(requests, { signal, acceptLines: this.#acceptLines });
    if (answers.length === 0) throw new LeftError();
    return answers;
  }

  /** Reads a line of text; `/quit` leaves. */
  async readLine(prompt: string): Promise<string> {
    this.print('');
    const line = await this.#terminal.readLine(prompt);
    const text = line?.trim() ?? '/quit';
    if (text === '/quit') throw new LeftError();
    return text;
  }

  /** Lets the person pick an option or type something else. */
  async pick(question: string, options: string[]): Promise<string> {
    this.print('');
    const picked = await this.#terminal.getUserChoice(question, options);
    if (picked === 'cancelled') throw new LeftError();
    return picked;
  }
}
