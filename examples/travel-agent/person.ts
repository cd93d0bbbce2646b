import { styleText } from 'node:util';
import { inertText, type UserInputRequestContent, type UserInputResponseContent } from 'holdpoint';
import { askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import { wrapLine } from './wrap-line.ts';

/** The person has left the program: Ctrl+C, `/quit`, or the end of a pipe. */
export class LeftError extends Error {}

/** The person at the terminal. They can leave at any prompt, which throws `LeftError`. */
export class Person {
  readonly #leaving = new AbortController();
  readonly #terminal = terminalUserInterface({ signal: this.#leaving.signal });

  constructor() {
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

  /** Asks for approvals and answers. */
  async ask(requests: readonly UserInputRequestContent[]): Promise<UserInputResponseContent[]> {
    this.print('');
    const answers = await askInTerminal(requests, { signal: this.signal, onLeave: 'keep' });
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
