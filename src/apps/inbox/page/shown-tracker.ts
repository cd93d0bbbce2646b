import type { DetailHandle, ShownState } from './shown-state.ts';

interface Field {
  label: string;
  /** Opens the fold that it is in, if it is in one. */
  open?: (() => void) | undefined;
  /** The start of a fold. */
  start?: Element | undefined;
  end?: Element | undefined;
}

const coveredMs = 250;
const foldsAtOnce = 4;
/* Nobody reads more labels than this. */
const mostLabels = 50;
/* More fields are not put in order: it would take longer than a frame. */
const mostOrdered = 1_000;

/* The part of the previous screen that stays in view. */
const overlap = 48;

/**
 * Tracks the fields whose end a person has reached: a marker at the end was in view, uncovered and painted, while the page was visible. A
 * field without a marker, as in a closed fold, is missing.
 */
export class ShownTracker implements DetailHandle {
  readonly #fields = new Map<string, Field>();
  readonly #names = new Map<Element, string>();
  readonly #reached = new Set<string>();
  readonly #hidden = new Set<string>();
  readonly #folds = new Set<() => void>();
  /** Markers in the window, which something may cover. */
  readonly #inWindow = new Set<Element>();
  readonly #onShown: (shown: ShownState) => void;
  readonly #stop = new AbortController();
  readonly #observer: IntersectionObserver;
  #root: Element | undefined;
  #isChecking = false;
  #isChanged = false;
  #told = '';

  constructor(onShown: (shown: ShownState) => void) {
    this.#onShown = onShown;
    this.#observer = new IntersectionObserver(this.#observe, { threshold: [0, 0.5, 1] });
  }

  /** Begins to watch the page around the element with the fields; returns the function that stops it. */
  start(root: Element): () => void {
    this.#root = root;
    const { signal } = this.#stop;
    const check = (): void => this.#scheduleCheck();
    document.addEventListener('scroll', check, { capture: true, passive: true, signal });
    document.addEventListener('visibilitychange', check, { signal });
    window.addEventListener('resize', check, { signal });
    window.addEventListener('focus', check, { signal });
    this.#change();
    return () => {
      this.#stop.abort();
      this.#observer.disconnect();
    };
  }

  /** Adds a field, which is missing until its end is reached; returns the function that removes it. */
  addField(name: string, field: Field): () => void {
    const known = this.#fields.get(name);
    if (known === undefined) this.#fields.set(name, field);
    else Object.assign(known, field);
    this.#change();
    return () => {
      this.#fields.delete(name);
      this.#change();
    };
  }

  /** Sets the end of a field; returns the function that unsets it. */
  placeEnd(name: string, end: Element): () => void {
    const field = this.#fields.get(name);
    if (field !== undefined) field.end = end;
    this.#names.set(end, name);
    this.#observer.observe(end);
    return () => {
      this.#observer.unobserve(end);
      this.#names.delete(end);
      this.#inWindow.delete(end);
      if (field?.end === end) field.end = undefined;
    };
  }

  /** Counts a value that can't be shown, once for each name; returns the function that removes it. */
  addHidden(name: string): () => void {
    this.#hidden.add(name);
    this.#change();
    return () => {
      this.#hidden.delete(name);
      this.#change();
    };
  }

  /** Adds a fold that `unfoldAll` opens; returns the function that removes it. */
  addFold(open: () => void): () => void {
    this.#folds.add(open);
    return () => this.#folds.delete(open);
  }

  unfoldAll(): void {
    void this.#openFolds();
  }

  /* A few at a time, so that the page stays responsive. Opened folds may contain others. */
  async #openFolds(): Promise<void> {
    const opened = new Set<() => void>();
    while (!this.#stop.signal.aborted) {
      const next = [...this.#folds].filter((open) => !opened.has(open)).slice(0, foldsAtOnce);
      if (next.length === 0) return;
      for (const open of next) {
        opened.add(open);
        open();
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }

  showNext(): void {
    if (!this.#scroll(1)) this.#goToMissing();
  }

  showPrevious(): void {
    this.#scroll(-1);
  }

  /** Scrolls by a screen; returns false at the end. */
  #scroll(direction: 1 | -1): boolean {
    const scroller = findScroller(this.#root);
    if (scroller === null) return false;
    const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(scroller);
    const covered = readPixels(scrollPaddingTop) + readPixels(scrollPaddingBottom);
    const before = scroller.scrollTop;
    const top = direction * Math.max(overlap, scroller.clientHeight - covered - overlap);
    scroller.scrollBy({ top, behavior: 'instant' });
    return Math.abs(scroller.scrollTop - before) > 1;
  }

  #goToMissing(): void {
    const [found] = this.#listMissing();
    if (found === undefined) return;
    const { open, start, end } = found;
    if (end !== undefined) return end.scrollIntoView({ block: 'end', behavior: 'instant' });
    open?.();
    start?.scrollIntoView({ block: 'start', behavior: 'instant' });
  }

  /** Lists the fields whose end was not reached, in the order of the page. */
  #listMissing(): Field[] {
    const missing = [...this.#fields].filter(([name]) => !this.#reached.has(name));
    const fields = missing.map(([, field]) => field);
    return fields.length > mostOrdered ? fields : fields.toSorted(comparePlaces);
  }

  #observe = (entries: readonly IntersectionObserverEntry[]): void => {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio >= 0.5) this.#inWindow.add(target);
      else this.#inWindow.delete(target);
    }
    this.#scheduleCheck();
  };

  /* In the next frame: elements observed in this one are painted by then. Hidden pages have no frames. */
  #scheduleCheck(): void {
    if (this.#isChecking || this.#inWindow.size === 0) return;
    this.#isChecking = true;
    requestAnimationFrame(() => {
      this.#isChecking = false;
      if (!this.#stop.signal.aborted && document.visibilityState === 'visible') this.#check();
    });
  }

  #check(): void {
    for (const end of this.#inWindow) {
      const name = this.#names.get(end);
      if (name === undefined || !this.#isUncovered(end)) continue;
      this.#reached.add(name);
      this.#inWindow.delete(end);
      this.#observer.unobserve(end);
      this.#change();
    }
    /* An element that covers others may go without an event. */
    if (this.#inWindow.size > 0) setTimeout(() => this.#scheduleCheck(), coveredMs);
  }

  /* A bar or a dialog may lie over it. */
  #isUncovered(element: Element): boolean {
    const { left, top, width, height } = element.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    return found !== null && this.#root?.contains(found) === true;
  }

  /** Reports the shown state, once for all simultaneous changes. */
  #change(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    queueMicrotask(() => {
      this.#isChanged = false;
      if (this.#stop.signal.aborted || this.#root === undefined) return;
      const fields = this.#listMissing();
      const missing = [...new Set(fields.map(({ label }) => label))].slice(0, mostLabels);
      const isWhole = fields.length === 0 && this.#fields.size > 0;
      const state = { isWhole, missing, hidden: this.#hidden.size };
      const told = JSON.stringify(state);
      if (told === this.#told) return;
      this.#told = told;
      this.#onShown(state);
    });
  }
}

function comparePlaces(one: Field, other: Field): number {
  const [first, second] = [one.start ?? one.end, other.start ?? other.end];
  if (first === undefined || second === undefined) return first === second ? 0 : first ? -1 : 1;
  return first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

/** Finds the element that scrolls another one. */
function findScroller(element: Element | undefined): Element | null {
  for (let each = element?.parentElement; each; each = each.parentElement) {
    const { overflowY } = getComputedStyle(each);
    const isScroller = overflowY === 'auto' || overflowY === 'scroll';
    if (isScroller && each.scrollHeight > each.clientHeight && each !== document.body) return each;
  }
  return document.scrollingElement;
}

function readPixels(length: string): number {
  const pixels = Number.parseFloat(length);
  return length.endsWith('px') ? pixels : 0;
}
