/** Wakes the one who waits. A ring before the wait is not lost. */
export class Bell {
  #rang = Promise.withResolvers<void>();

  ring(): void {
    this.#rang.resolve();
  }

  /** Resolves at the next ring, or at once when it rang since the last wait. */
  async wait(): Promise<void> {
    await this.#rang.promise;
    this.#rang = Promise.withResolvers<void>();
  }
}
