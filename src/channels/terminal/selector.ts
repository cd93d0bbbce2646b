import { EntryList, type Mark } from './entry-list.ts';
import { oneLine } from './fit-text.ts';
import { FreeText, type Typed } from './free-text.ts';
import type { Key } from './key.ts';
import { hintLines, isExit, numberMark, picksByDigit } from './list-keys.ts';
import {
  type Canvas,
  escapeLabel,
  type PickList,
  responsePrompt,
  strokesOf,
  type Widget,
} from './widget.ts';

/** What was picked or typed, or that the person took the exit or wants to see everything (`unfold`). */
export type Picked =
  | { type: 'entry'; index: number }
  | { type: 'text'; text: string }
  | { type: 'exit' }
  | { type: 'unfold' };

/** Lets a person pick one of several entries; the last one may lead to a text input. */
export class Selector implements Widget<Picked> {
  readonly #asked: PickList;
  readonly #list: EntryList;
  readonly #typeAhead: TypeAhead | undefined;
  #text: FreeText | undefined;
  #typedBefore: string | undefined;

  constructor(asked: PickList) {
    const escape = asked.takesText ? [{ label: escapeLabel }] : [];
    this.#asked = asked;
    this.#typeAhead = asked.decides ? new TypeAhead() : undefined;
    this.#list = new EntryList([...asked.entries, ...escape], asked.start);
  }

  get isCut(): boolean {
    return this.#text === undefined && this.#list.isCut;
  }

  get isTyping(): boolean {
    return this.#text !== undefined;
  }

  lines(canvas: Canvas): string[] {
    if (this.#text !== undefined) return this.#text.lines(canvas);
    const hint = hintLines(
      [
        ['Use ↑/↓ or j/k to navigate', '↑/↓'],
        ['Enter to select', 'Enter'],
      ],
      this.#asked.exit,
      canvas,
    );
    const message = this.#typeAhead?.message(canvas) ?? [];
    const rows = canvas.rows - hint.length - message.length;
    const list = this.#list.lines({ ...canvas, rows }, (index) => this.#mark(index, canvas));
    return [...hint, ...list, ...message];
  }

  fullLines(canvas: Canvas): string[] {
    return this.#list.fullLines(canvas, (index) => this.#mark(index, canvas));
  }

  press(key: Key, canvas: Canvas): Picked | undefined {
    if (this.#text !== undefined) return this.#typed(this.#text.press(key));
    for (const stroke of strokesOf(key)) {
      if (this.#typeAhead?.includes(stroke, key) === true) {
        this.#list.highlighted = this.#asked.start;
        continue;
      }
      const picked = this.#stroke(stroke, canvas);
      if (picked !== undefined || this.#text !== undefined) return picked;
    }
  }

  /* The rest of a line that was being typed is not a command either. */
  ignore(key: Key): void {
    for (const stroke of strokesOf(key)) this.#typeAhead?.includes(stroke, key);
  }

  closingLines(picked: Picked | undefined, canvas: Canvas): string[] | undefined {
    const { enter, exit, entries } = this.#asked;
    if (picked === undefined) return [];
    if (picked.type === 'exit') return exit === 'leave' ? [] : undefined;
    if (picked.type === 'unfold' || enter === 'continue') return undefined;
    if (picked.type === 'text') return this.#text?.closingLines(picked, canvas) ?? [];
    const entry = entries[picked.index];
    if (entry?.leadsOn === true) return undefined;
    return [`  ✓ ${oneLine(entry?.label ?? '', canvas.columns - 4)}`];
  }

  #mark(index: number, { fold }: Canvas): Mark {
    const isUnread = fold === 'unread' && this.#list.entries[index]?.isYes === true;
    return {
      before: numberMark(this.#asked, index),
      after: isUnread ? ' (read everything first: v)' : '',
    };
  }

  #stroke(stroke: string, canvas: Canvas): Picked | undefined {
    if (stroke === 'return' || stroke === 'enter')
      return this.#pick(this.#list.highlighted, canvas);
    if (/^[1-9]$/.test(stroke) && picksByDigit(this.#asked)) {
      return this.#pick(Number(stroke) - 1, canvas);
    }
    if (isExit(stroke, this.#asked.exit)) return { type: 'exit' };
    if (stroke === 'v' && canvas.fold !== 'none') return this.#unfold();
    this.#list.move(stroke);
  }

  #pick(index: number, { fold }: Canvas): Picked | undefined {
    const entry = this.#list.entries[index];
    if (entry === undefined) return;
    if (entry.isYes === true && fold === 'unread') return this.#unfold();
    this.#list.highlighted = index;
    if (index < this.#asked.entries.length) return { type: 'entry', index };
    const { enter, text } = this.#asked;
    const asked = { prompt: responsePrompt, canGoBack: true, canBeEmpty: false, enter };
    this.#text = new FreeText({ ...asked, text: this.#typedBefore ?? text });
  }

  /* After reading, "yes" must not be highlighted: the next Enter would pick it. */
  #unfold(): Picked {
    if (this.#asked.decides) this.#list.highlighted = this.#asked.start;
    return { type: 'unfold' };
  }

  #typed(typed: Typed | undefined): Picked | undefined {
    if (typed?.type === 'text') return typed;
    if (typed?.type !== 'back') return;
    this.#typedBefore = typed.text;
    this.#text = undefined;
  }
}

const moves = new Set(['up', 'down', 'home', 'end', 'pageup', 'pagedown', 'escape']);

/**
 * Detects text that was meant for something else, in a list where a yes can be picked: a line that was being typed when the question
 * appeared, or a paste without paste marks. From the first key that is not a command of the list, letters have no effect, and neither has
 * the Enter that ends the text. An Enter in one chunk with other keys has no effect either: the person can't have seen what it would pick.
 */
class TypeAhead {
  #isTyping = false;
  #wasDropped = false;

  /** Whether the key is part of such text. */
  includes(stroke: string, { isTogether = false }: Key): boolean {
    const isEnter = stroke === 'return' || stroke === 'enter';
    this.#wasDropped = isEnter && (this.#isTyping || isTogether);
    if (isEnter || moves.has(stroke)) this.#isTyping = false;
    else this.#isTyping ||= !/^(?:[jkv0-9]|left|shift\+tab)$/.test(stroke);
    return this.#isTyping || this.#wasDropped;
  }

  message({ columns }: Canvas): string[] {
    if (!this.#isTyping && !this.#wasDropped) return [];
    return ['  Text is not an answer: use ↑/↓'.slice(0, columns)];
  }
}
