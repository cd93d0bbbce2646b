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

/** What was picked or typed, or where to go instead. */
export type Picked =
  | { type: 'entry'; index: number }
  | { type: 'text'; text: string }
  | { type: 'exit' }
  | { type: 'unfold' };

/** One of several entries, the way seed 004 draws it; with a last one that leads to text of the person's own. */
export class Selector implements Widget<Picked> {
  readonly #asked: PickList;
  readonly #list: EntryList;
  readonly #canUnfold: boolean;
  #text: FreeText | undefined;

  constructor(asked: PickList, canUnfold: boolean) {
    const escape = asked.takesText ? [{ label: escapeLabel }] : [];
    this.#asked = asked;
    this.#canUnfold = canUnfold;
    this.#list = new EntryList([...asked.entries, ...escape], asked.start);
  }

  lines(canvas: Canvas): string[] {
    if (this.#text !== undefined) return this.#text.lines(canvas);
    const wishes = ['Use ↑/↓ or j/k to navigate', 'Enter to select'];
    return [
      ...hintLines(wishes, this.#asked.exit, this.#canUnfold, canvas),
      ...this.#list.lines(canvas),
    ];
  }

  press(key: Key): Picked | undefined {
    if (this.#text !== undefined) return this.#typed(this.#text.press(key));
    for (const stroke of strokesOf(key)) {
      const picked = this.#stroke(stroke);
      if (picked !== undefined || this.#text !== undefined) return picked;
    }
  }

  closingLines(picked: Picked, canvas: Canvas): string[] {
    if (picked.type === 'text') return this.#text?.closingLines(picked, canvas) ?? [];
    if (picked.type !== 'entry') return [];
    return [`  ✓ ${oneLine(this.#asked.entries[picked.index]?.label ?? '', canvas.columns - 4)}`];
  }

  #stroke(stroke: string): Picked | undefined {
    const { exit } = this.#asked;
    if (stroke === 'return' || stroke === 'enter') return this.#pick(this.#list.highlighted);
    if (/^[1-9]$/.test(stroke)) return this.#pick(Number(stroke) - 1);
    if (isExit(stroke, exit)) return { type: 'exit' };
    if (stroke === 'v' && this.#canUnfold) return { type: 'unfold' };
    this.#list.move(stroke);
  }

  #pick(index: number): Picked | undefined {
    if (index >= this.#list.entries.length) return;
    this.#list.highlighted = index;
    if (index < this.#asked.entries.length) return { type: 'entry', index };
    this.#text = new FreeText({ prompt: responsePrompt, canGoBack: true, canBeEmpty: false });
  }

  #typed(typed: Typed | undefined): Picked | undefined {
    if (typed?.type === 'text') return typed;
    if (typed?.type === 'back') this.#text = undefined;
  }
}
