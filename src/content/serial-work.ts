/** Runs one piece of work at a time, in order. */
export class SerialWork {
  #isBusy = false;
  /** The work that waits for its turn. */
  readonly #waiting: (() => void)[] = [];

  async run<RESULT>(work: () => Promise<RESULT>): Promise<RESULT> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isBusy = false;
      else next();
    }
  }
}
