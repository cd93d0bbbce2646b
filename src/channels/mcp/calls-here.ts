/** What this process knows of its calls before the log does. */
export class CallsHere {
  readonly #held = new Map<string, number>();
  readonly #told = new Set<string>();
  readonly #work = new Set<Promise<unknown>>();

  /** The call has a caller here, until the returned function is called. */
  hold(threadId: string): () => void {
    this.#held.set(threadId, (this.#held.get(threadId) ?? 0) + 1);
    return () => {
      const others = (this.#held.get(threadId) ?? 1) - 1;
      if (others === 0) this.#held.delete(threadId);
      else this.#held.set(threadId, others);
    };
  }

  isHeld(threadId: string): boolean {
    return this.#held.has(threadId);
  }

  /** The id of a new call: the first number from this one on that no call which begins here has. */
  findFree(prefix: string, from: number): string {
    let number = from;
    while (this.isHeld(`${prefix}-${number}`)) number += 1;
    return `${prefix}-${number}`;
  }

  /** The result of the call is on its way to its caller. */
  tell(threadId: string): void {
    this.#told.add(threadId);
  }

  /** The log says by now whether the caller got the result. */
  forget(threadId: string): void {
    this.#told.delete(threadId);
  }

  isTold(threadId: string): boolean {
    return this.#told.has(threadId);
  }

  /** Keeps the gate open for work that goes on without its caller. Returns the same promise. */
  track<RESULT>(work: Promise<RESULT>): Promise<RESULT> {
    this.#work.add(work);
    const end = (): void => void this.#work.delete(work);
    work.then(end, end);
    return work;
  }

  /** Resolves when nothing is at work any more, and results have been written. */
  async settle(): Promise<void> {
    do {
      await Promise.allSettled(this.#work);
      await endTurn();
    } while (this.#work.size > 0);
  }
}

/** Resolves in a later turn of the event loop: what a handler has returned before is written by then. */
export function endTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
