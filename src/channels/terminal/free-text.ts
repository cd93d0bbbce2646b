import { inertLine } from '../../content/inert-text.ts';
import { takeFirstUnits, takeLastUnits, fitTextLines, wrap } from './styled-text.ts';
import type { Key } from './keys.ts';
import type { Canvas, PickList, Widget } from './widget.ts';

const cursor = '▏';
const mostRows = 10;

/** Options for a text input. */
export interface TextPrompt {
  prompt: string;
  /** The text in the field at the start. */
  text?: string | undefined;
  /** True if Esc goes back. */
  canGoBack: boolean;
  canBeEmpty: boolean;
  enter: PickList['enter'];
  /** Explains why a text is not accepted, in words that follow "It"; returns `undefined` if it is. */
  whyNot?: (text: string) => string | undefined;
}

/** The text that was sent, or that was typed before the person went back. */
export type Typed = { type: 'text'; text: string } | { type: 'back'; text: string };

/** A text input. Enter sends; Ctrl+J or a paste inserts line breaks. */
export class FreeText implements Widget<Typed> {
  readonly isTyping = true;
  readonly #asked: TextPrompt;
  readonly #buffer: TextBuffer;
  #message = '';

  constructor(asked: TextPrompt) {
    this.#asked = asked;
    this.#buffer = new TextBuffer(asked.text ?? '');
  }

  lines(canvas: Canvas): string[] {
    const hint = this.#hint(canvas);
    const { lines, notes } = this.#shown(canvas, Math.max(1, canvas.rows - hint.length - 1));
    const message = [this.#message, ...notes].filter((note) => note !== '');
    const first = message.length === 0 ? hint : [message.join(' · '), ...hint];
    const below = first.map((line) => canvas.paint.hint(`  ${line}`));
    return [...lines, ...(canvas.rows < 8 ? [] : ['']), ...below];
  }

  press(key: Key): Typed | undefined {
    this.#message = '';
    if (key.type === 'stroke') return this.#stroke(key.name);
    this.#buffer.insert(key.text);
    return undefined;
  }

  closingLines(typed: Typed | undefined, canvas: Canvas): string[] | undefined {
    if (typed === undefined) return [];
    if (typed.type === 'back' || this.#asked.enter === 'continue') return undefined;
    const start = takeFirstUnits(typed.text, canvas.columns * 2);
    const lines = fitTextLines(`${this.#asked.prompt}${start}`, canvas.columns);
    const isCut = start !== typed.text || lines.length > 4;
    const note = `… ${typed.text.length.toLocaleString('en')} characters in all`;
    return [...lines.slice(0, 4), ...(isCut ? [canvas.paint.hint(note)] : [])];
  }

  #hint({ columns, rows }: Canvas): string[] {
    const { canGoBack, enter } = this.#asked;
    const back = canGoBack ? ', Esc to go back' : '';
    const full = wrap(`Enter to ${enter}, Ctrl+J for a new line${back}`, columns - 2);
    return full.length === 1 || rows >= 8
      ? full.map((line) => line.trim())
      : [`Enter ${enter}s, ^J new line${canGoBack ? ', Esc back' : ''}`.slice(0, columns - 2)];
  }

  /* The text around the cursor, and notes about the length of the rest. */
  #shown({ columns }: Canvas, rows: number): { lines: string[]; notes: string[] } {
    const most = Math.min(rows, mostRows);
    const room = columns * most;
    const { before, after, length } = this.#buffer;
    const end = takeFirstUnits(after, Math.floor(room / 3));
    const start = takeLastUnits(before, room - end.length);
    const isCut = start.length + end.length < length;
    const intro = this.#asked.prompt + (start.length < before.length ? '…' : '');
    const upToCursor = fitTextLines(intro + start + cursor, columns).length;
    const all = fitTextLines(
      intro + start + cursor + end + (end.length < after.length ? '…' : ''),
      columns,
    );
    const from = Math.max(0, Math.min(upToCursor - Math.ceil(most / 2), all.length - most));
    const notes = [
      ...(isCut ? [`${length.toLocaleString('en')} characters in all`] : []),
      ...(!isCut && all.length > most ? [`${all.length} lines in all`] : []),
    ];
    return { lines: all.slice(from, from + most), notes };
  }

  #stroke(name: string): Typed | undefined {
    switch (name) {
      case 'return':
        return this.#send();
      case 'enter':
      case 'meta+return':
      case 'meta+enter':
        this.#buffer.insert('\n');
        return undefined;
      case 'escape':
      case 'shift+tab':
        return this.#asked.canGoBack ? { type: 'back', text: this.#buffer.text } : undefined;
      default:
        this.#buffer.edit(name);
        return undefined;
    }
  }

  #send(): Typed | undefined {
    const { text } = this.#buffer;
    const { canBeEmpty, whyNot } = this.#asked;
    const isEmpty = text.trim() === '';
    const fault = isEmpty ? undefined : whyNot?.(text);
    if (fault === undefined && (!isEmpty || canBeEmpty)) return { type: 'text', text };
    this.#message = fault === undefined ? 'Type something' : inertLine(`It ${fault}`);
    return undefined;
  }
}

const graphemes = new Intl.Segmenter();

/** A text with a cursor. */
class TextBuffer {
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
        return this.#before.length - findLastGrapheme(this.#before).length;
      case 'right':
        return this.#before.length + findFirstGrapheme(this.#after).length;
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
        this.#before = this.#before.slice(0, -findLastGrapheme(this.#before).length || undefined);
        break;
      case 'delete':
        this.#after = this.#after.slice(findFirstGrapheme(this.#after).length);
        break;
      case 'ctrl+u':
        this.#before = '';
        break;
      case 'ctrl+w':
        this.#before = this.#before.slice(0, findLastWordStart(this.#before));
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

function findLastWordStart(text: string): number {
  const trimmed = text.trimEnd();
  return Math.max(trimmed.lastIndexOf(' '), trimmed.lastIndexOf('\n')) + 1;
}

/* Only a few units are segmented, not the whole of a long text. */
function findLastGrapheme(text: string): string {
  return Array.from(graphemes.segment(takeLastUnits(text, 32))).at(-1)?.segment ?? '';
}

function findFirstGrapheme(text: string): string {
  return Array.from(graphemes.segment(takeFirstUnits(text, 32)))[0]?.segment ?? '';
}
