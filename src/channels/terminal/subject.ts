import { type Content, Page } from './page.ts';
import type { Canvas } from './widget.ts';

/** What one answer is about: its page at the width of the screen, and whether a person could read all of it. */
export class Subject {
  readonly #content: Content;
  #page: Page | undefined;
  /** Whether all of it has been on the screen at once, or was paged through to its end. */
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
