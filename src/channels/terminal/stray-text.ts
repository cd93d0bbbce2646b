import type { Key } from './key.ts';
import type { Canvas } from './widget.ts';

const moves = new Set(['up', 'down', 'home', 'end', 'pageup', 'pagedown', 'escape']);

/**
 * Notices text that was meant for something else, where a yes can be picked: a line typed when the question came up, or a
 * paste that the terminal did not mark. From the first stroke that is no key of the list, its letters are none either, and the
 * Enter that ends it answers nothing. Nor does an Enter that came together with the keys before it: nobody saw what it would pick.
 */
export class StrayText {
  #isTyping = false;
  #wasDropped = false;

  /** Whether the stroke is a part of such text. */
  takes(stroke: string, { isTogether = false }: Key): boolean {
    const isEnter = stroke === 'return' || stroke === 'enter';
    this.#wasDropped = isEnter && (this.#isTyping || isTogether);
    if (isEnter || moves.has(stroke)) this.#isTyping = false;
    else this.#isTyping ||= !/^(?:[jkv0-9]|left|shift\+tab)$/.test(stroke);
    return this.#isTyping || this.#wasDropped;
  }

  message({ columns }: Canvas): string[] {
    if (!this.#isTyping && !this.#wasDropped) return [];
    return ['  Text is no answer here: use ↑/↓'.slice(0, columns)];
  }
}
