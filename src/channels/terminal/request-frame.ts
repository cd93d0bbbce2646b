import type { Key } from './key.ts';
import { type Content, Page } from './page.ts';
import { type Canvas, listStrokes, type Widget } from './widget.ts';
import { fitOneLine } from './fit-text.ts';

/** The text of a request, at the width of the screen, and whether the person could read all of it. */
export class RequestText {
  readonly #content: Content;
  #page: Page | undefined;
  /** Whether all of it was on the screen at once, or was paged through to its end. */
  isRead = false;

  constructor(content: Content) {
    this.#content = content;
  }

  page({ columns, paint }: Pick<Canvas, 'columns' | 'paint'>): Page {
    if (this.#page?.columns === columns) return this.#page;
    const page = new Page({ columns, paint });
    this.#content(page);
    this.#page = page;
    return page;
  }
}

/**
 * The text of a request above the widget that answers it, within the rows of the screen. The widget gets the rows that it needs
 * first, but at least half of the screen is for the text.
 */
export class RequestFrame<ANSWER extends object> implements Widget<ANSWER> {
  readonly #requestText: RequestText;
  readonly #widget: Widget<ANSWER>;
  #fold: Canvas['fold'] = 'none';

  constructor(requestText: RequestText, widget: Widget<ANSWER>) {
    this.#requestText = requestText;
    this.#widget = widget;
  }

  get isTyping(): boolean {
    return this.#widget.isTyping === true;
  }

  lines(canvas: Canvas): string[] {
    const whole = this.#drawn(canvas, 'none');
    if (whole.hidden === 0) this.#requestText.isRead = true;
    if (whole.hidden === 0 && this.#widget.isCut !== true) return whole.lines;
    return this.#drawn(canvas, this.#requestText.isRead ? 'read' : 'unread').lines;
  }

  press(key: Key, canvas: Canvas): ANSWER | undefined {
    return this.#widget.press(key, { ...canvas, fold: this.#fold });
  }

  ignore(key: Key): void {
    this.#widget.ignore?.(key);
  }

  closingLines(answer: ANSWER | undefined, canvas: Canvas): string[] | undefined {
    const lines = this.#widget.closingLines(answer, canvas);
    if (lines === undefined) return undefined;
    const rows = canvas.rows - lines.length - 1;
    return [...this.#requestText.page(canvas).folded(rows).lines, ...lines];
  }

  #drawn(canvas: Canvas, fold: Canvas['fold']): { lines: string[]; hidden: number } {
    this.#fold = fold;
    const page = this.#requestText.page(canvas);
    const wanted = Math.min(page.lines.length, Math.floor(canvas.rows / 2));
    const lines = this.#widget.lines({ ...canvas, rows: canvas.rows - wanted, fold });
    const canUnfold = this.#widget.isTyping !== true;
    const shown = page.folded(canvas.rows - lines.length, canUnfold ? 'v' : undefined);
    return { lines: [...shown.lines, ...lines], hidden: shown.hidden };
  }
}

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
    const room = countPageRows(canvas);
    this.#top = Math.max(0, Math.min(this.#top, all.length - room));
    const end = Math.min(all.length, this.#top + room);
    const isEnd = end === all.length;
    this.#reachedEnd ||= isEnd;
    const place = `${this.#top + 1}–${end} of ${all.length.toLocaleString('en')} lines`;
    const hint = isEnd ? `${place}, Esc to go back` : `${place}, Space for more`;
    return [
      ...all.slice(this.#top, end),
      canvas.paint.hint(`  ${fitOneLine(hint, canvas.columns - 2)}`),
    ];
  }

  press(key: Key, canvas: Canvas): Paged | undefined {
    for (const stroke of listStrokes(key)) {
      if (['escape', 'return', 'enter', 'q', 'v', 'left'].includes(stroke)) {
        return { reachedEnd: this.#reachedEnd };
      }
      this.#top = Math.max(0, this.#target(stroke, countPageRows(canvas)));
    }
    return undefined;
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

function countPageRows({ rows }: Canvas): number {
  return Math.max(1, rows - 1);
}
