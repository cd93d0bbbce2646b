import { inertLine } from '../../content/inert-text.ts';
import type { CheckList } from './checklist.ts';
import { Departure } from './departure.ts';
import type { Choice, Choices, Dialog } from './dialog.ts';
import type { TextPrompt } from './free-text.ts';
import { type Content, Page } from './page.ts';
import { paintFor } from './paint.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { UserInterface } from './user-interface.ts';
import { type Entry, escapeLabel, type PickList, responsePrompt } from './widget.ts';

const laterEntry: Entry = { label: 'Decide later', word: 'later' };

/** Asks by a numbered list and a line of text (seed 004's fallback). Nothing is folded: there is no key to open it. */
export class NumberedDialog implements Dialog {
  readonly #user: Pick<UserInterface, 'print' | 'readLine'>;
  readonly #output: TerminalOutput | undefined;

  constructor(user: Pick<UserInterface, 'print' | 'readLine'>, output?: TerminalOutput) {
    this.#user = user;
    this.#output = output;
  }

  async show(content: Content): Promise<void> {
    const paint = paintFor(this.#output);
    const page = new Page({ columns: Infinity, isFolding: false, paint });
    content(page);
    for (const line of page.lines) await this.#user.print(line);
  }

  async pick(list: PickList): Promise<Choice | undefined> {
    const entries = list.exit === 'leave' ? [...list.entries, laterEntry] : list.entries;
    await this.#printEntries(entries, list.takesText);
    for (;;) {
      const line = await this.#line('Enter your choice (number or text): ');
      const index = placeOf(line, entries);
      if (index === list.entries.length && list.exit === 'leave') return undefined;
      if (index < entries.length) return { index };
      if (index === entries.length && list.takesText) return { text: await this.#response() };
      if (list.takesText && line.trim() !== '') return { text: line };
      if (!list.takesText) await this.#user.print(`Type a number from 1 to ${entries.length}.`);
    }
  }

  async pickSeveral(list: CheckList): Promise<Choices | undefined> {
    const { entries, takesText, min, max } = list;
    await this.#printEntries(entries, takesText);
    for (;;) {
      const line = await this.#line('Enter your choices (numbers with commas, or text): ');
      const places =
        line.trim() === '' ? [] : line.split(',').map((part) => placeOf(part, entries));
      const indexes = [...new Set(places.filter((index) => index < entries.length))];
      const hasText = takesText && places.includes(entries.length);
      const isNumbers = places.every((index) => index < entries.length + Number(takesText));
      if (isNumbers && indexes.length <= max && hasText)
        return { indexes, text: await this.#response() };
      if (isNumbers && indexes.length <= max && indexes.length >= min) return { indexes };
      if (!isNumbers && takesText) return { indexes: [], text: line };
      await this.#user.print(`Type ${min} to ${Math.min(max, entries.length)} of the numbers.`);
    }
  }

  async typeText({ prompt, canBeEmpty }: TextPrompt): Promise<string> {
    for (;;) {
      const line = await this.#line(prompt);
      if (canBeEmpty || line.trim() !== '') return line;
    }
  }

  async #response(): Promise<string> {
    return this.typeText({ prompt: responsePrompt, canBeEmpty: false, canGoBack: false });
  }

  async #printEntries(entries: readonly Entry[], takesText: boolean): Promise<void> {
    const all = takesText ? [...entries, { label: escapeLabel }] : entries;
    for (const [index, { label, description = '', isPreselected }] of all.entries()) {
      const note = isPreselected === true ? ' (preselected)' : '';
      await this.#user.print(`  ${index + 1}. ${inertLine(label)}${note}`);
      if (description !== '') await this.#user.print(`     ${inertLine(description)}`);
    }
    await this.#user.print('');
  }

  async #line(prompt: string): Promise<string> {
    const line = await this.#user.readLine(prompt);
    if (line === undefined) throw new Departure('ended');
    return line.toWellFormed();
  }
}

/* A number as seed 004's origin reads it, or the word of an entry. What is neither is nowhere. */
function placeOf(line: string, entries: readonly Entry[]): number {
  const text = line.trim();
  if (/^\d+$/.test(text)) return text === '0' ? Infinity : Number(text) - 1;
  const byWord = entries.findIndex(({ word }) => word !== undefined && word === text.toLowerCase());
  return byWord === -1 ? Infinity : byWord;
}
