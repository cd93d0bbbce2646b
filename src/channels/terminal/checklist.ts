import { EntryList } from './entry-list.ts';
import { oneLine } from './fit-text.ts';
import { FreeText, type Typed } from './free-text.ts';
import type { Key } from './key.ts';
import { hintLines, isExit } from './list-hint.ts';
import {
  type Canvas,
  escapeLabel,
  type PickList,
  responsePrompt,
  strokesOf,
  type Widget,
} from './widget.ts';

/** Several entries to pick from, and how many. */
export interface CheckList extends PickList {
  checked: readonly number[];
  min: number;
  max: number;
}

/** What was ticked and typed, or where to go instead. */
export type Checked =
  | { type: 'entries'; indexes: number[]; text?: string }
  | { type: 'exit' }
  | { type: 'unfold' };

/** Several of several entries: Space ticks, Enter sends. A text of the person's own counts as enough. */
export class Checklist implements Widget<Checked> {
  readonly #asked: CheckList;
  readonly #list: EntryList;
  readonly #checked: Set<number>;
  readonly #canUnfold: boolean;
  #text: FreeText | undefined;
  #message = '';

  constructor(asked: CheckList, canUnfold: boolean) {
    const escape = asked.takesText ? [{ label: escapeLabel }] : [];
    this.#asked = asked;
    this.#canUnfold = canUnfold;
    this.#checked = new Set(asked.checked);
    this.#list = new EntryList([...asked.entries, ...escape], asked.start);
  }

  lines(canvas: Canvas): string[] {
    if (this.#text !== undefined) return this.#text.lines(canvas);
    const wishes = ['Use ↑/↓ or j/k to navigate', 'Space to tick', 'Enter to send'];
    return [
      ...hintLines(wishes, this.#asked.exit, this.#canUnfold, canvas),
      ...this.#list.lines(canvas, (index) => this.#mark(index)),
      ...(this.#message === '' ? [] : ['', `  ${this.#message}`]),
    ];
  }

  press(key: Key): Checked | undefined {
    this.#message = '';
    if (this.#text !== undefined) return this.#typed(this.#text.press(key));
    for (const stroke of strokesOf(key)) {
      const checked = this.#stroke(stroke);
      if (checked !== undefined || this.#text !== undefined) return checked;
    }
  }

  closingLines(checked: Checked, canvas: Canvas): string[] {
    if (checked.type !== 'entries') return [];
    const labels = checked.indexes.map((index) => this.#asked.entries[index]?.label ?? '');
    const texts = checked.text === undefined ? [] : [checked.text];
    return [...labels, ...texts].map((label) => `  ✓ ${oneLine(label, canvas.columns - 4)}`);
  }

  #mark(index: number): string {
    if (index >= this.#asked.entries.length) return '';
    return this.#checked.has(index) ? '[x] ' : '[ ] ';
  }

  #stroke(stroke: string): Checked | undefined {
    const { highlighted } = this.#list;
    const isEscape = highlighted === this.#asked.entries.length;
    if (stroke === 'return' || stroke === 'enter')
      return isEscape ? this.#openText() : this.#send();
    if (stroke === ' ') return isEscape ? this.#openText() : this.#toggle(highlighted);
    if (/^[1-9]$/.test(stroke)) return this.#toggle(Number(stroke) - 1);
    if (isExit(stroke, this.#asked.exit)) return { type: 'exit' };
    if (stroke === 'v' && this.#canUnfold) return { type: 'unfold' };
    this.#list.move(stroke);
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
    this.#text = new FreeText({ prompt: responsePrompt, canGoBack: true, canBeEmpty: false });
  }

  #send(text?: string): Checked | undefined {
    const indexes = [...this.#checked].toSorted((one, other) => one - other);
    if (text !== undefined) return { type: 'entries', indexes, text };
    if (indexes.length >= this.#asked.min) return { type: 'entries', indexes };
    this.#message = `At least ${this.#asked.min}: tick with Space.`;
  }

  #typed(typed: Typed | undefined): Checked | undefined {
    if (typed?.type === 'text') return this.#send(typed.text);
    if (typed?.type === 'back') this.#text = undefined;
  }
}
