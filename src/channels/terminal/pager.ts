import { oneLine } from './fit-text.ts';
import type { Key } from './key.ts';
import type { RequestText } from './request-frame.ts';
import { type Canvas, strokesOf, type Widget } from './widget.ts';

/** Whether the person paged to the end. */
export interface Paged {
  reachedEnd: boolean;
}

/** Shows the whole request page by page. None of its keys answers the request. */
export class Pager implements Widget<Paged> {
  readonly #requestText: RequestText;
  readonly #more: (canvas: Canvas) => readonly string[];
  #top = 0;
  #reachedEnd = false;

  /** `more`: the lines below the text of the request. */
  constructor(requestText: RequestText, more: (canvas: Canvas) => readonly string[]) {
    this.#requestText = requestText;
    this.#more = more;
  }

  lines(canvas: Canvas): string[] {
    const all = this.#all(canvas);
    const room = roomOf(canvas);
    this.#top = Math.max(0, Math.min(this.#top, all.length - room));
    const end = Math.min(all.length, this.#top + room);
    const isEnd = end === all.length;
    this.#reachedEnd ||= isEnd;
    const place = `${this.#top + 1}–${end} of ${all.length.toLocaleString('en')} lines`;
    const hint = isEnd ? `${place}, Esc to go back` : `${place}, Space for more`;
    return [
      ...all.slice(this.#top, end),
      canvas.paint.hint(`  ${oneLine(hint, canvas.columns - 2)}`),
    ];
  }

  press(key: Key, canvas: Canvas): Paged | undefined {
    for (const stroke of strokesOf(key)) {
      if (['escape', 'return', 'enter', 'q', 'v', 'left'].includes(stroke)) {
        return { reachedEnd: this.#reachedEnd };
      }
      this.#top = Math.max(0, this.#target(stroke, roomOf(canvas)));
    }
  }

  closingLines(): undefined {}

  #all(canvas: Canvas): string[] {
    const page = this.#requestText.page(canvas).lines;
    return [...page, ...this.#more(canvas)];
  }

  #target(stroke: string, room: number): number {
    switch (stroke) {
      case 'up':
      case 'k':
        return this.#top - 1;
      case 'down':
      case 'j':
        return this.#top + 1;
      case 'pageup':
      case 'b':
        return this.#top - room;
      case 'pagedown':
      case ' ':
        return this.#top + room;
      case 'home':
      case 'g':
        return 0;
      case 'end':
      case 'G':
        return Infinity;
      default:
        return this.#top;
    }
  }
}

function roomOf({ rows }: Canvas): number {
  return Math.max(1, rows - 1);
}
