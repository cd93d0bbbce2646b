import { inertLine } from '../../content/inert-text.ts';
import type { CheckList } from './checklist.ts';
import { Departure } from './departure.ts';
import type { Choice, Choices, Dialog } from './dialog.ts';
import type { TextPrompt, Typed } from './free-text.ts';
import { type Content, Page } from './page.ts';
import { paintFor } from './paint.ts';
import type { TerminalOutput } from './terminal-options.ts';
import type { UserInterface } from './user-interface.ts';
import { type Entry, escapeLabel, type PickList, responsePrompt } from './widget.ts';

const laterEntry: Entry = { label: 'Decide later', words: ['later'] };

/** Asks by a numbered list and a line of text. Nothing is folded: there is no key to open it. */
export class NumberedDialog implements Dialog {
  readonly #user: Pick<UserInterface, 'print' | 'readLine'>;
  readonly #output: TerminalOutput | undefined;

  constructor(user: Pick<UserInterface, 'print' | 'readLine'>, output?: TerminalOutput) {
    this.#user = user;
    this.#output = output;
  }

  async show(content: Content): Promise<void> {
    const page = new Page({ columns: Infinity, paint: paintFor(this.#output) });
    content(page);
    for (const line of page.lines) await this.#user.print(line);
  }

  async note(line: string): Promise<void> {
    await this.#user.print(line);
  }

  async pick(list: PickList): Promise<Choice | undefined> {
    const { takesText } = list;
    const entries = list.exit === 'leave' ? [...list.entries, laterEntry] : list.entries;
    await this.#printEntries(entries, takesText);
    for (;;) {
      const line = await this.#line(`Enter your choice (${whatIsTaken(list)}): `);
      const index = placeOf(line, entries);
      if (index === list.entries.length && list.exit === 'leave') return undefined;
      if (index < entries.length) return { index };
      const isEscape = index === entries.length || line.trim() === escapeLabel;
      if (isEscape && takesText) return { text: await this.#response() };
      if (takesText && line.trim() !== '') return { text: line };
      if (!takesText) await this.#user.print(`Type a number from 1 to ${entries.length}.`);
    }
  }

  async pickSeveral(list: CheckList): Promise<Choices> {
    const { entries, takesText, min, max } = list;
    await this.#printEntries(entries, takesText);
    const taken = takesText ? 'numbers with commas, or text' : 'numbers with commas';
    for (;;) {
      const line = await this.#line(`Enter your choices (${taken}): `);
      const places = placesOf(line, entries);
      const indexes = [...new Set(places.filter((index) => index < entries.length))];
      const hasText = takesText && places.includes(entries.length);
      const isNumbers = places.every((index) => index < entries.length + Number(takesText));
      if (isNumbers && indexes.length <= max && hasText)
        return { type: 'entries', indexes, text: await this.#response() };
      if (isNumbers && indexes.length <= max && indexes.length >= min)
        return { type: 'entries', indexes };
      if (!isNumbers && takesText) return { type: 'entries', indexes: [], text: line };
      await this.#user.print(`Type ${min} to ${Math.min(max, entries.length)} of the numbers.`);
    }
  }

  async typeText({
    prompt,
    canBeEmpty,
  }: Pick<TextPrompt, 'prompt' | 'canBeEmpty'>): Promise<Typed> {
    for (;;) {
      const text = await this.#line(prompt);
      if (canBeEmpty || text.trim() !== '') return { type: 'text', text };
    }
  }

  async #response(): Promise<string> {
    const { text } = await this.typeText({ prompt: responsePrompt, canBeEmpty: false });
    return text;
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

function whatIsTaken({ takesText, entries }: PickList): string {
  if (takesText) return 'number or text';
  return entries.some(({ words }) => words?.includes('n')) ? 'number, y or n' : 'number or label';
}

/* One place for a whole line that is a label, which may have commas in it; else one for each part. */
function placesOf(line: string, entries: readonly Entry[]): number[] {
  if (line.trim() === '') return [];
  const whole = placeOf(line, entries);
  return whole === Infinity ? line.split(',').map((part) => placeOf(part, entries)) : [whole];
}

/* A number in digits alone, a word of an entry, or the label of just one. What is none is nowhere. */
function placeOf(line: string, entries: readonly Entry[]): number {
  const text = line.trim();
  const isNumber = /^\d+$/.test(text) && Number(text) >= 1;
  if (isNumber && Number(text) <= entries.length + 1) return Number(text) - 1;
  const byWord = entries.findIndex(({ words }) => words?.includes(text.toLowerCase()));
  if (byWord !== -1) return byWord;
  const labelled = entries.flatMap(({ label }, index) => (label.trim() === text ? [index] : []));
  return labelled.length === 1 ? (labelled[0] ?? Infinity) : Infinity;
}
