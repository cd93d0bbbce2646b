/** Wakes the one who waits. A wake-up before the wait is not lost. */
export class WakeUp {
  #woken = Promise.withResolvers<void>();

  wake(): void {
    this.#woken.resolve();
  }

  /** Resolves at the next `wake`, or at once when there was one since the last wait. */
  async wait(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers<void>();
  }
}
