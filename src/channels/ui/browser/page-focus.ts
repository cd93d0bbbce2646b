/** An element of a page that can have the focus. */
export interface FocusTarget {
  focus(): void;
  contains(other: unknown): boolean;
  readonly isConnected?: boolean;
  addEventListener?(type: 'keydown' | 'pointerdown', listener: (event: Press) => void): void;
}

/** A key or the pointer goes down. */
interface Press {
  readonly key?: string;
  readonly repeat?: boolean;
  preventDefault(): void;
}

/** An element of the app, or the latest of several. On it and in it, a held Enter counts once. */
export class ShownElement {
  readonly #elements = new Set<FocusTarget>();
  readonly #onPress: () => void;

  /** `onPress`: called when a button in it may have been pressed, before that button is let go. */
  constructor(onPress = (): void => {}) {
    this.#onPress = onPress;
  }

  /** For a `ref`. `null` says that an element was removed, but not which: those that have left the page are skipped later. */
  set = (element: FocusTarget | null): void => {
    if (element === null) return;
    element.addEventListener?.('keydown', this.#press);
    element.addEventListener?.('pointerdown', this.#press);
    this.#elements.add(element);
  };

  /* An element that appears under a held key was not there at the press: one more request, or the composer. */
  #press = (event: Press): void => {
    if (event.key !== undefined && event.key !== 'Enter' && event.key !== ' ') return;
    if (event.repeat !== true) this.#onPress();
    else if (event.key === 'Enter') event.preventDefault();
  };

  get current(): FocusTarget | undefined {
    for (const element of this.#elements) {
      if (element.isConnected === false) this.#elements.delete(element);
    }
    return [...this.#elements].at(-1);
  }

  has(focused: unknown): boolean {
    return [...this.#elements].some((element) => element.contains(focused));
  }
}

/* The package is compiled without the types of browsers. */
declare const document: { activeElement: unknown; body: unknown } | undefined;

function findFocused(): unknown {
  return typeof document === 'undefined' ? undefined : document.activeElement;
}

/**
 * Moves the focus from a request that its person has answered to the next one. It never moves to a button, so that no held key answers the
 * next request. It stays at a request that another person ends.
 */
export class PageFocus {
  readonly #targets = new Map<string, ShownElement>();
  /** The element that gets the focus when nothing is left to answer. */
  readonly last = new ShownElement();
  /** The request that had the focus. */
  #at: string | undefined;
  #leaving: string | undefined;
  #movedTo: FocusTarget | undefined;
  #order: readonly string[] = [];
  readonly #onPress: () => void;

  /** `onPress`: called when a key or the pointer goes down in the element of a request. */
  constructor(onPress: () => void) {
    this.#onPress = onPress;
  }

  /** Returns the element of a request. */
  findTarget(requestId: string): ShownElement {
    const target = this.#targets.get(requestId) ?? new ShownElement(this.#onPress);
    this.#targets.set(requestId, target);
    return target;
  }

  /** Notes that the person has answered this request. */
  leave(requestId: string): void {
    this.#leaving = requestId;
  }

  /** True if the focus is still where an answer has moved it, or nowhere: moving it again disturbs nobody. */
  get isUntouched(): boolean {
    const focused = findFocused();
    return this.#movedTo !== undefined && this.#movedTo === focused;
  }

  /** Keeps the focus where it is, as the person types. */
  keep(): void {
    this.#movedTo = undefined;
  }

  /** Puts the focus on a field that has to be corrected. */
  moveTo(target: FocusTarget | undefined): void {
    target?.focus();
  }

  /** Call it after each rendering, with the requests that the person may answer, in order. */
  follow(open: readonly string[]): void {
    const lost = this.#findLost(open);
    if (this.#leaving !== undefined) this.#moveOn(this.#leaving, open);
    else if (lost !== undefined) this.#stayAt(lost, open);
    this.#leaving = undefined;
    const focused = findFocused();
    this.#at = open.find((requestId) => this.#targets.get(requestId)?.has(focused));
    this.#order = open;
  }

  /* Finds the request that had the focus: a focused element that is removed leaves the focus to the body. */
  #findLost(open: readonly string[]): string | undefined {
    const at = this.#at;
    if (at === undefined || open.includes(at) || typeof document === 'undefined') return undefined;
    return document.activeElement === document.body ? at : undefined;
  }

  #moveOn(left: string, open: readonly string[]): void {
    const target = this.#findNext(left, open) ?? this.last.current;
    target?.focus();
    this.#movedTo = target;
  }

  /* The person may be typing: the rest must not end up in another field, and Enter must not send it. */
  #stayAt(lost: string, open: readonly string[]): void {
    (this.#targets.get(lost)?.current ?? this.#findNext(lost, open))?.focus();
    this.#movedTo = undefined;
  }

  #findNext(left: string, open: readonly string[]): FocusTarget | undefined {
    const place = this.#order.indexOf(left);
    const after = this.#order.slice(place + 1).find((each) => open.includes(each));
    const next = after ?? open.find((each) => each !== left);
    return next === undefined ? undefined : this.#targets.get(next)?.current;
  }
}
