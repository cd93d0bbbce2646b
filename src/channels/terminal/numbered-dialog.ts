import { inertLine } from '../../content/inert-text.ts';
import {
  type Choice,
  type Choices,
  type Dialog,
  type EditedText,
  UnansweredError,
} from './dialog.ts';
import type { TextPrompt, Typed } from './free-text.ts';
import type { KeyGuard } from './keys.ts';
import { addAnswerer, type Content, Page } from './page.ts';
import { paintFor } from './styled-text.ts';
import type { TerminalOutput } from './terminal-streams.ts';
import {
  approvingWord,
  type CheckList,
  type Entry,
  escapeLabel,
  type PickList,
  responsePrompt,
} from './widget.ts';

/** Shows text to a person and reads their input: a terminal, a chat window, a test. */
export interface UserInterface {
  /**
   * Lets the person pick an option. Resolves to the exact text of the option, to the text typed instead, or to `cancelled`.
   * Without this method, the function `getUserChoice` asks with a numbered list.
   */
  getUserChoice?(question: string, options: string[]): Promise<string>;
  /** Prints a line. */
  print(text: string): void | Promise<void>;
  /** Reads a line; resolves to `undefined` when the input has ended. */
  readLine(prompt: string): Promise<string | undefined>;
}

const laterEntry: Entry = { label: 'Decide later', words: ['later'] };

/** The terminal that lines are read from, if it is one, and the person at it. */
interface LineTerminal {
  output?: TerminalOutput;
  guard?: KeyGuard;
  person?: string | undefined;
}

/** Asks with a numbered list and a line of text. Nothing is folded: there is no key to unfold it. */
export class NumberedDialog implements Dialog {
  readonly #user: Pick<UserInterface, 'print' | 'readLine'>;
  readonly #terminal: LineTerminal;

  constructor(user: Pick<UserInterface, 'print' | 'readLine'>, terminal: LineTerminal = {}) {
    this.#user = user;
    this.#terminal = terminal;
  }

  announce(): void {
    this.#terminal.guard?.announce();
  }

  async show(content: Content): Promise<void> {
    const { output, person } = this.#terminal;
    const page = new Page({ columns: Infinity, paint: paintFor(output) });
    addAnswerer(content, person)(page);
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
      const line = await this.#line(`Enter your choice (${describeAcceptedInput(list)}): `);
      const places = findIndexes(line, entries, takesText);
      const [index] = places;
      if (places.length > 1) await this.#user.print(askWhich(line, places));
      else if (index === list.entries.length && list.exit === 'leave') return undefined;
      else if (index !== undefined && index < entries.length) {
        if (await this.#isMeant(entries[index], line)) return { index };
      } else if (index !== undefined) return { text: await this.#response() };
      else if (takesText && line.trim() !== '') return { text: line };
      else if (!takesText) await this.#user.print(`Type a number from 1 to ${entries.length}.`);
    }
  }

  async pickSeveral(list: CheckList): Promise<Choices> {
    const { entries, takesText, ticks } = list;
    const { min, max } = ticks;
    await this.#printEntries(entries, takesText);
    const taken = takesText ? 'numbers with commas, or text' : 'numbers with commas';
    for (;;) {
      const line = await this.#line(`Enter your choices (${taken}): `);
      const parts = splitTyped(line, entries, takesText);
      const unclear = parts.find(({ places }) => places.length > 1);
      if (unclear !== undefined) {
        await this.#user.print(askWhich(unclear.part, unclear.places));
        continue;
      }
      const places = parts.map((each) => each.places[0] ?? Infinity);
      const indexes = [...new Set(places.filter((index) => index < entries.length))];
      const hasText = takesText && places.includes(entries.length);
      const isNumbers = places.every((index) => index < entries.length + Number(takesText));
      if (isNumbers && indexes.length <= max && hasText)
        return { type: 'entries', indexes, text: await this.#response() };
      if (isNumbers && indexes.length <= max && indexes.length >= min)
        return { type: 'entries', indexes };
      if (!isNumbers && takesText && !areNumbers(line))
        return { type: 'entries', indexes: [], text: line };
      await this.#user.print(`Type ${min} to ${Math.min(max, entries.length)} of the numbers.`);
    }
  }

  async typeText({
    prompt,
    canBeEmpty,
    whyNot,
  }: Pick<TextPrompt, 'prompt' | 'canBeEmpty' | 'whyNot'>): Promise<Typed> {
    for (;;) {
      const text = await this.#line(prompt);
      const isEmpty = text.trim() === '';
      const fault = isEmpty ? undefined : whyNot?.(text);
      if (fault !== undefined) await this.#user.print(inertLine(`It ${fault}.`));
      else if (canBeEmpty || !isEmpty) return { type: 'text', text };
    }
  }

  async editText({ name }: EditedText): Promise<string | undefined> {
    const typed = await this.typeText({ prompt: `${name}: `, canBeEmpty: true });
    return typed.type === 'text' ? typed.text : undefined;
  }

  /* A number, a label or `y` in a pipe may be meant for another question, or for none. */
  async #isMeant(entry: Entry | undefined, line: string): Promise<boolean> {
    if (entry?.isYes !== true || entry.confirms === true || isApproving(line)) return true;
    const prompt = `${inertLine(entry.label)}? Type ${approvingWord} to do that: `;
    if (isApproving(await this.#line(prompt))) return true;
    await this.#user.print(`Not approved: only the word ${approvingWord} approves.`);
    return false;
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
    if (line === undefined) throw new UnansweredError('ended');
    return line.toWellFormed();
  }
}

function describeAcceptedInput({ takesText, entries }: PickList): string {
  if (takesText) return 'number or text';
  if (entries.some(({ confirms }) => confirms === true)) return 'number, y or n';
  const named = entries.flatMap(({ words = [] }) => words.slice(0, 1));
  return `${['number', ...named].join(', ')} or label`;
}

function isApproving(line: string): boolean {
  return line.trim().toLowerCase() === approvingWord;
}

/* Where several entries can be picked, a number out of range is a mistake, not a text. */
function areNumbers(line: string): boolean {
  return /^[\d\s,.]+$/.test(line);
}

/* An ambiguous input is asked again: a wrong guess would be recorded as the person's answer. */
function askWhich(text: string, places: readonly number[]): string {
  const numbers = places.map((index) => `${index + 1}.`).join(' or ');
  return `${inertLine(text.trim())} could be any of several. Type a number with its dot: ${numbers}`;
}

/** The text that was typed for one pick, and the indexes of the entries that it may mean. */
interface TypedPart {
  part: string;
  places: readonly number[];
}

/* One part if the whole line is a label, which may contain commas; else the line is split at commas. */
function splitTyped(line: string, entries: readonly Entry[], takesText: boolean): TypedPart[] {
  if (line.trim() === '') return [];
  const whole = findIndexes(line, entries, takesText);
  const parts = whole.length > 0 ? [line] : line.split(',');
  return parts.map((part) => ({ part, places: findIndexes(part, entries, takesText) }));
}

/* A number with a dot is exactly that entry. Any other input is every entry whose number, word or label it is. */
function findIndexes(line: string, entries: readonly Entry[], takesText: boolean): number[] {
  const text = line.trim();
  const all = takesText ? [...entries, { label: escapeLabel }] : entries;
  const [, digits = '', dot] = /^(\d+)(\.)?$/.exec(text) ?? [];
  const numbered = digits === '' ? undefined : all[Number(digits) - 1];
  if (numbered !== undefined && dot !== undefined) return [Number(digits) - 1];
  const word = text.toLowerCase();
  const isWord = entries.some(({ words }) => words?.includes(word));
  return all.flatMap((entry, index) => {
    const label = entry.label.trim();
    const isLabel = label === text || (isWord && label.toLowerCase() === word);
    return entry === numbered || isLabel || entry.words?.includes(word) === true ? [index] : [];
  });
}
