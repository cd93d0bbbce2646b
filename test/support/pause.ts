/** A point at which a process waits once, until the test lets it go on. */
export class Pause {
  readonly #reached = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();

  /** Waits here. */
  async wait(): Promise<void> {
    this.#reached.resolve();
    await this.#ended.promise;
  }

  /** Does some work while `slow` waits here, and lets `slow` end after it. */
  async during<SLOW>(slow: Promise<SLOW>, quick: () => Promise<unknown>): Promise<SLOW> {
    const ended = slow.then(() => 'ended' as const);
    if ((await Promise.race([ended, this.#reached.promise])) === 'ended') {
      throw new Error('The point was not reached.');
    }
    await quick();
    this.#ended.resolve();
    return slow;
  }
}
