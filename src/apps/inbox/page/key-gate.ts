/*
 * Decides which keys count. A held key repeats, and the focus moves on after an answer: without this, one long press would answer one
 * request after the other.
 */
export class KeyGate {
  readonly #down = new Set<string>();

  /** Checks whether a key that goes down counts: it must have come up since it was last down. Call `release` when it comes up. */
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

  /**
   * Forgets all keys, as the page lost the keyboard and is not told which come up. A key that is still held then repeats, and does not
   * count.
   */
  reset(): void {
    this.#down.clear();
  }
}
