import { styleText } from 'node:util';
import { inertText, type UserInputRequestContent, type UserInputResponseContent } from 'holdpoint';
import { askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import { wrapped } from './wrapped.ts';

/** The person has left the program: Ctrl+C, `/quit`, or the end of a pipe. */
export class Left extends Error {}

/** Whoever sits at the terminal. Whatever they are asked, they may leave instead, which throws `Left`. */
export class Person {
  readonly #leaving = new AbortController();
  readonly #terminal = terminalUserInterface({ signal: this.#leaving.signal });

  constructor() {
    process.on('SIGINT', () => this.#leaving.abort(new Left()));
  }

  /** Aborts at Ctrl+C: for what runs while nobody is asked. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Shows lines of our own, wrapped between words. What others wrote goes through `inertText` first. */
  hears(...lines: string[]): void {
    for (const line of lines) console.log(wrapped(line, process.stdout));
  }

  /** Shows what somebody says: many lines perhaps, and nothing in them that a terminal would obey. */
  hearsFrom(who: string, text: string): void {
    if (text.trim() === '') return;
    const [first = '', ...rest] = inertText(text).split('\n');
    this.hears('', `${styleText('bold', who)} ${first}`, ...rest);
  }

  /** The answers to approvals and questions. */
  async answers(requests: readonly UserInputRequestContent[]): Promise<UserInputResponseContent[]> {
    this.hears('');
    const answers = await askInTerminal(requests, { signal: this.signal, onLeave: 'keep' });
    if (answers.length === 0) throw new Left();
    return answers;
  }

  /** A line of text; `/quit` leaves. */
  async types(prompt: string): Promise<string> {
    this.hears('');
    const line = await this.#terminal.readLine(prompt);
    const text = line?.trim() ?? '/quit';
    if (text === '/quit') throw new Left();
    return text;
  }

  /** One of the options, or a text of their own. */
  async picks(question: string, options: string[]): Promise<string> {
    this.hears('');
    const picked = await this.#terminal.getUserChoice(question, options);
    if (picked === 'cancelled') throw new Left();
    return picked;
  }
}
