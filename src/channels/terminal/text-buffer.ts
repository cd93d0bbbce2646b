import { firstUnits, lastUnits } from './fit-text.ts';

const graphemes = new Intl.Segmenter();

/** A text with a cursor. */
export class TextBuffer {
  #before: string;
  #after = '';

  constructor(text: string) {
    this.#before = text;
  }

  get before(): string {
    return this.#before;
  }

  get after(): string {
    return this.#after;
  }

  get text(): string {
    return this.#before + this.#after;
  }

  get length(): number {
    return this.#before.length + this.#after.length;
  }

  insert(text: string): void {
    this.#before += text;
  }

  /** Applies an editing key; other keys do nothing. */
  edit(name: string): void {
    const place = this.#placeFor(name);
    if (place === undefined) this.#cut(name);
    else this.#moveTo(place);
  }

  #placeFor(name: string): number | undefined {
    switch (name) {
      case 'left':
        return this.#before.length - lastGrapheme(this.#before).length;
      case 'right':
        return this.#before.length + firstGrapheme(this.#after).length;
      case 'up':
        return this.#endOfLineAbove();
      case 'down':
        return this.#endOfLineBelow();
      case 'home':
      case 'ctrl+a':
        return 0;
      case 'end':
      case 'ctrl+e':
        return this.length;
      default:
        return undefined;
    }
  }

  #cut(name: string): void {
    switch (name) {
      case 'backspace':
        this.#before = this.#before.slice(0, -lastGrapheme(this.#before).length || undefined);
        break;
      case 'delete':
        this.#after = this.#after.slice(firstGrapheme(this.#after).length);
        break;
      case 'ctrl+u':
        this.#before = '';
        break;
      case 'ctrl+w':
        this.#before = this.#before.slice(0, lastWordStart(this.#before));
        break;
      case 'ctrl+k':
        this.#after = '';
        break;
    }
  }

  #endOfLineAbove(): number {
    const end = this.#before.lastIndexOf('\n');
    return end === -1 ? this.#before.length : end;
  }

  #endOfLineBelow(): number {
    const start = this.#after.indexOf('\n') + 1;
    if (start === 0) return this.#before.length;
    const end = this.#after.indexOf('\n', start);
    return this.#before.length + (end === -1 ? this.#after.length : end);
  }

  #moveTo(place: number): void {
    const { text } = this;
    this.#before = text.slice(0, place);
    this.#after = text.slice(place);
  }
}

function lastWordStart(text: string): number {
  const trimmed = text.trimEnd();
  return Math.max(trimmed.lastIndexOf(' '), trimmed.lastIndexOf('\n')) + 1;
}

/* Only a few units are segmented, not the whole of a long text. */
function lastGrapheme(text: string): string {
  return Array.from(graphemes.segment(lastUnits(text, 32))).at(-1)?.segment ?? '';
}

function firstGrapheme(text: string): string {
  return Array.from(graphemes.segment(firstUnits(text, 32)))[0]?.segment ?? '';
}
