import type { Key } from './key.ts';
import type { Canvas } from './widget.ts';

/**
 * Notices text that was meant for something else, where a yes can be picked: a line typed when the question came up, or a
 * paste that the terminal did not mark. From its first character on, its letters are no keys, and the Enter that
 * ends it answers nothing. Nor does an Enter that came together with the keys before it: nobody saw what it would pick.
 */
export class StrayText {
  #isTyping = false;
  #wasDropped = false;

  /** Whether the stroke is a part of such text. */
  takes(stroke: string, { isTogether = false }: Key): boolean {
    const isEnter = stroke === 'return' || stroke === 'enter';
    const isCharacter = Array.from(stroke).length === 1;
    if (isCharacter && (this.#isTyping || !/^[jkv0-9]$/.test(stroke))) this.#isTyping = true;
    else {
      this.#wasDropped = isEnter && (this.#isTyping || isTogether);
      this.#isTyping = false;
    }
    return this.#isTyping || this.#wasDropped;
  }

  message({ columns }: Canvas): string[] {
    if (!this.#isTyping && !this.#wasDropped) return [];
    const text = '  Text is no answer here: use ↑/↓';
    return [text.slice(0, columns)];
  }
}
