/*
 * When a key counts. A held key repeats, and the focus moves on after an answer: without this, one long press would answer one request after
 * the other.
 */
export class KeyGate {
  readonly #down = new Set<string>();

  /** Whether a key that goes down counts: if it was up since it was last down. Call `release` when it comes up. */
  press(code: string, { repeat }: { repeat: boolean }): boolean {
    if (repeat || this.#down.has(code)) {
      this.#down.add(code);
      return false;
    }
    this.#down.add(code);
    return true;
  }

  release(code: string): void {
    this.#down.delete(code);
    /* macOS reports no other key that comes up while Command is down. */
    if (code.startsWith('Meta')) this.#down.clear();
  }

  /** The page lost the keyboard: where keys come up is not reported. One that is still held then repeats, and does not count. */
  reset(): void {
    this.#down.clear();
  }
}

/** How long something is shown before an approval, or a pointer, counts: as long as a double click, or a key that is pressed twice. */
export const restMs = 500;
