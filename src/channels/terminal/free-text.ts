import { inertLine } from '../../content/inert-text.ts';
import { firstUnits, lastUnits } from './fit-text.ts';
import type { Key } from './key.ts';
import type { Canvas, Widget } from './widget.ts';

const cursor = '▏';
const graphemes = new Intl.Segmenter();

/** How a text is asked for. */
export interface TextPrompt {
  prompt: string;
  /** Whether Esc goes back to what was there before. */
  canGoBack: boolean;
  canBeEmpty: boolean;
}

/** A text, or the wish to go back. */
export type Typed = { type: 'text'; text: string } | { type: 'back' };

/** One line of text of the person's own. Line breaks come in only by a paste, and send nothing off. */
export class FreeText implements Widget<Typed> {
  readonly #asked: TextPrompt;
  #before = '';
  #after = '';
  #message = '';

  constructor(asked: TextPrompt) {
    this.#asked = asked;
  }

  lines(canvas: Canvas): string[] {
    const { prompt, canGoBack } = this.#asked;
    const length = this.#before.length + this.#after.length;
    const room = canvas.columns * Math.max(1, Math.min(4, canvas.rows - 4)) - prompt.length - 2;
    const after = firstUnits(this.#after, Math.floor(room / 3));
    const before = lastUnits(this.#before, room - after.length);
    const isCut = before.length + after.length < length;
    const help = canGoBack ? 'Enter to send, Esc to go back' : 'Enter to send';
    const notes = [
      this.#message,
      isCut ? `${length.toLocaleString('en')} characters in all` : '',
      help,
    ];
    return [
      prompt +
        (before.length < this.#before.length ? '…' : '') +
        inertLine(before) +
        cursor +
        inertLine(after) +
        (after.length < this.#after.length ? '…' : ''),
      '',
      canvas.paint.hint(`  ${notes.filter((note) => note !== '').join(' · ')}`),
    ];
  }

  press(key: Key): Typed | undefined {
    this.#message = '';
    if (key.type === 'stroke') return this.#stroke(key.name);
    this.#before += key.text;
  }

  closingLines(typed: Typed, canvas: Canvas): string[] {
    if (typed.type === 'back') return [];
    const shown = inertLine(firstUnits(typed.text, canvas.columns * 2));
    const isCut = typed.text.length > canvas.columns * 2;
    const note = `… ${typed.text.length.toLocaleString('en')} characters in all`;
    return [`${this.#asked.prompt}${shown}${isCut ? canvas.paint.faint(note) : ''}`];
  }

  #stroke(name: string): Typed | undefined {
    switch (name) {
      case 'return':
      case 'enter':
        return this.#send();
      case 'escape':
      case 'shift+tab':
        return this.#asked.canGoBack ? { type: 'back' } : undefined;
      default:
        this.#edit(name);
    }
  }

  #send(): Typed | undefined {
    const text = this.#before + this.#after;
    if (text.trim() !== '' || this.#asked.canBeEmpty) return { type: 'text', text };
    this.#message = 'Type something';
  }

  #edit(name: string): void {
    switch (name) {
      case 'backspace':
        this.#before = this.#before.slice(0, -lastGrapheme(this.#before).length || undefined);
        break;
      case 'delete':
        this.#after = this.#after.slice(firstGrapheme(this.#after).length);
        break;
      case 'left':
        this.#moveTo(this.#before.length - lastGrapheme(this.#before).length);
        break;
      case 'right':
        this.#moveTo(this.#before.length + firstGrapheme(this.#after).length);
        break;
      case 'home':
      case 'ctrl+a':
        this.#moveTo(0);
        break;
      case 'end':
      case 'ctrl+e':
        this.#moveTo(Infinity);
        break;
      case 'ctrl+u':
        this.#before = '';
        break;
      case 'ctrl+w':
        this.#before = this.#before.slice(0, this.#before.trimEnd().lastIndexOf(' ') + 1);
        break;
      case 'ctrl+k':
        this.#after = '';
        break;
    }
  }

  #moveTo(place: number): void {
    const text = this.#before + this.#after;
    this.#before = text.slice(0, place);
    this.#after = text.slice(place);
  }
}

/* A few units are looked at, and not the whole of a long text. */
function lastGrapheme(text: string): string {
  return Array.from(graphemes.segment(lastUnits(text, 32))).at(-1)?.segment ?? '';
}

function firstGrapheme(text: string): string {
  return Array.from(graphemes.segment(firstUnits(text, 32)))[0]?.segment ?? '';
}
