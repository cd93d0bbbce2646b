import type { Key } from './key.ts';
import { type Content, Page } from './page.ts';
import type { Canvas, Widget } from './widget.ts';

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
