/** A wake-up for one waiter. A `wake` before `wait` is not lost. */
export class WakeUp {
  #woken = Promise.withResolvers<void>();

  wake(): void {
    this.#woken.resolve();
  }

  /** Resolves at the next `wake`, or at once if there was one since the last `wait`. */
  async wait(): Promise<void> {
    await this.#woken.promise;
    this.#woken = Promise.withResolvers<void>();
  }
}
