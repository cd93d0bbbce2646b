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

/** The element in which an app shows something, or the latest of several. On it and in it, Enter counts once, however long it is held. */
export class ShownElement {
  readonly #elements = new Set<FocusTarget>();
  readonly #onPress: () => void;

  /** `onPress`: called when a button in it may have been pressed, before that button is let go. */
  constructor(onPress = (): void => {}) {
    this.#onPress = onPress;
  }

  /** For a `ref`. `null` says that an element goes, and not which: those that have left the page are passed over later. */
  set = (element: FocusTarget | null): void => {
    if (element === null) return;
    element.addEventListener?.('keydown', this.#press);
    element.addEventListener?.('pointerdown', this.#press);
    this.#elements.add(element);
  };

  /* What has come under a key that is held was not there when it was pressed: one more request, or the message that is being written. */
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
 * Moves the focus from a request that its person has answered to the next one. It never moves to a button, so that no key that is still held
 * answers the next request. At a request that somebody else ends, it stays.
 */
export class PageFocus {
  readonly #targets = new Map<string, ShownElement>();
  /** Where the focus goes when nothing is left to answer. */
  readonly last = new ShownElement();
  /** The request whose person was at it. */
  #at: string | undefined;
  #leaving: string | undefined;
  #movedTo: FocusTarget | undefined;
  #order: readonly string[] = [];
  readonly #onPress: () => void;

  /** `onPress`: called when a key or the pointer goes down in the element of a request. */
  constructor(onPress: () => void) {
    this.#onPress = onPress;
  }

  /** The element of a request. */
  findTarget(requestId: string): ShownElement {
    const target = this.#targets.get(requestId) ?? new ShownElement(this.#onPress);
    this.#targets.set(requestId, target);
    return target;
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
    const lost = this.#findLost(open);
    if (this.#leaving !== undefined) this.#moveOn(this.#leaving, open);
    else if (lost !== undefined) this.#stayAt(lost, open);
    this.#leaving = undefined;
    const focused = findFocused();
    this.#at = open.find((requestId) => this.#targets.get(requestId)?.has(focused));
    this.#order = open;
  }

  /* The request at which the person was: an element that goes away while it has the focus leaves it to the body. */
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

  /* The person may be typing: the rest of it must not become a part of anything else, and Enter must not send it. */
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
