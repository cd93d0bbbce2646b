/** An element of a page that can have the focus. */
export interface FocusTarget {
  focus(): void;
  contains(other: unknown): boolean;
}

/* The package is compiled without the types of browsers. */
declare const document: { activeElement: unknown; body: unknown } | undefined;

function findFocused(): unknown {
  return typeof document === 'undefined' ? undefined : document.activeElement;
}

/**
 * Moves the focus from a request that needs its person no more to the next one that does. It never moves to a button, so that no key that
 * is still held answers the next request.
 */
export class PageFocus {
  readonly #targets = new Map<string, FocusTarget>();
  /** Where the focus goes when nothing is left to answer. */
  last: FocusTarget | null = null;
  /** The request whose person was at it. */
  #at: string | undefined;
  #leaving: string | undefined;
  #movedTo: FocusTarget | undefined;
  #order: readonly string[] = [];

  setTarget(requestId: string, target: FocusTarget | null): void {
    if (target === null) this.#targets.delete(requestId);
    else this.#targets.set(requestId, target);
  }

  /** The person has answered this request. */
  leave(requestId: string): void {
    this.#leaving = requestId;
  }

  /** Whether the focus is still where an answer has moved it, or nowhere: moving it again takes nobody away from anything. */
  get isUntouched(): boolean {
    const focused = findFocused();
    return this.#movedTo !== undefined && this.#movedTo === focused;
  }

  /** The person types: the focus stays where it is. */
  keep(): void {
    this.#movedTo = undefined;
  }

  /** Puts the focus on a field that has to be corrected. */
  moveTo(target: FocusTarget | undefined): void {
    target?.focus();
  }

  /** Call it after each rendering, with the requests that the person may answer, in order. */
  follow(open: readonly string[]): void {
    const left = this.#leaving ?? this.#findLost(open);
    if (left !== undefined) this.#moveOn(left, open);
    this.#leaving = undefined;
    const focused = findFocused();
    this.#at = [...this.#targets].find(([, target]) => target.contains(focused))?.[0];
    this.#order = open;
  }

  /* An element that goes away while it has the focus leaves it to the body. */
  #findLost(open: readonly string[]): string | undefined {
    const at = this.#at;
    if (at === undefined || open.includes(at) || typeof document === 'undefined') return undefined;
    return document.activeElement === document.body ? at : undefined;
  }

  #moveOn(left: string, open: readonly string[]): void {
    const place = this.#order.indexOf(left);
    const after = this.#order.slice(place + 1).find((each) => open.includes(each));
    const next = after ?? open.find((each) => each !== left);
    const target = next === undefined ? this.last : (this.#targets.get(next) ?? this.last);
    target?.focus();
    this.#movedTo = target ?? undefined;
  }
}
