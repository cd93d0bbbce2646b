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

/** Entries to tick, which are ticked at the start, and how many may be ticked. */
export interface CheckList extends PickList {
  checked: readonly number[];
  min: number;
  max: number;
}

/** What was ticked and typed, or that the person took the exit or wants to see everything (`unfold`). */
export type Checked =
  | { type: 'entries'; indexes: number[]; text?: string }
  | { type: 'exit'; indexes: number[] }
  | { type: 'unfold' };

/** Lets a person tick entries: Space ticks, Enter sends. A typed text is enough, whatever `min` says. */
export class Checklist implements Widget<Checked> {
  readonly #asked: CheckList;
  readonly #list: EntryList;
  readonly #checked: Set<number>;
  #text: FreeText | undefined;
  #typedBefore: string | undefined;
  #message = '';

  constructor(asked: CheckList) {
    const escape = asked.takesText ? [{ label: escapeLabel }] : [];
    this.#asked = asked;
    this.#checked = new Set(asked.checked);
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
    const { enter, exit } = this.#asked;
    const hint = hintLines(
      [
        ['Use ↑/↓ or j/k to navigate', '↑/↓'],
        ['Space to tick', 'Space'],
        [`Enter to ${enter}`, `Enter ${enter}s`],
      ],
      exit,
      canvas,
    );
    const blank = canvas.rows < 8 ? [] : [''];
    const message = this.#message === '' ? [] : [...blank, `  ${this.#message}`];
    const rows = canvas.rows - hint.length - message.length;
    return [
      ...hint,
      ...this.#list.lines({ ...canvas, rows }, (index) => this.#mark(index)),
      ...message,
    ];
  }

  fullLines(canvas: Canvas): string[] {
    return this.#list.fullLines(canvas, (index) => this.#mark(index));
  }

  press(key: Key, canvas: Canvas): Checked | undefined {
    this.#message = '';
    if (this.#text !== undefined) return this.#typed(this.#text.press(key));
    for (const stroke of strokesOf(key)) {
      const checked = this.#stroke(stroke, canvas);
      if (checked !== undefined || this.#text !== undefined) return checked;
    }
  }

  closingLines(checked: Checked | undefined, canvas: Canvas): string[] | undefined {
    if (checked === undefined) return [];
    if (checked.type !== 'entries' || this.#asked.enter === 'continue') return undefined;
    const labels = checked.indexes.map((index) => this.#asked.entries[index]?.label ?? '');
    const texts = checked.text === undefined ? [] : [checked.text];
    return [...labels, ...texts].map((label) => `  ✓ ${oneLine(label, canvas.columns - 4)}`);
  }

  #mark(index: number): Mark {
    const isEntry = index < this.#asked.entries.length;
    const box = this.#checked.has(index) ? '[x] ' : '[ ] ';
    return { before: `${numberMark(this.#asked, index)}${isEntry ? box : ''}`, after: '' };
  }

  #stroke(stroke: string, { fold }: Canvas): Checked | undefined {
    const { highlighted } = this.#list;
    const isEscape = highlighted === this.#asked.entries.length;
    if (stroke === 'return' || stroke === 'enter')
      return isEscape ? this.#openText() : this.#send();
    if (stroke === ' ') return isEscape ? this.#openText() : this.#toggle(highlighted);
    if (/^[1-9]$/.test(stroke) && picksByDigit(this.#asked))
      return this.#toggle(Number(stroke) - 1);
    if (isExit(stroke, this.#asked.exit)) return { type: 'exit', indexes: this.#indexes() };
    if (stroke === 'v' && fold !== 'none') return { type: 'unfold' };
    this.#list.move(stroke);
  }

  #indexes(): number[] {
    return [...this.#checked].toSorted((one, other) => one - other);
  }

  #toggle(index: number): undefined {
    if (index > this.#list.entries.length - 1) return;
    this.#list.highlighted = index;
    if (index === this.#asked.entries.length) return this.#openText();
    if (this.#checked.delete(index)) return;
    if (this.#checked.size < this.#asked.max) this.#checked.add(index);
    else this.#message = `No more than ${this.#asked.max}.`;
  }

  #openText(): undefined {
    const { enter, text } = this.#asked;
    const asked = { prompt: responsePrompt, canGoBack: true, canBeEmpty: false, enter };
    this.#text = new FreeText({ ...asked, text: this.#typedBefore ?? text });
  }

  #send(text?: string): Checked | undefined {
    const indexes = this.#indexes();
    if (text !== undefined) return { type: 'entries', indexes, text };
    if (indexes.length >= this.#asked.min) return { type: 'entries', indexes };
    this.#message = `At least ${this.#asked.min}: tick with Space.`;
  }

  #typed(typed: Typed | undefined): Checked | undefined {
    if (typed?.type === 'text') return this.#send(typed.text);
    if (typed?.type !== 'back') return;
    this.#typedBefore = typed.text;
    this.#text = undefined;
  }
}
