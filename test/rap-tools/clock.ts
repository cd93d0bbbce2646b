interface Wait {
  milliseconds: number;
  end: () => void;
}

/** Time that passes when a test says so. A wait whose signal aborts rejects, as those of Node do. */
export class Clock {
  readonly #waits = new Set<Wait>();
  readonly #watchers = new Map<number, () => void>();

  /** For `createToolServer`. */
  readonly wait = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const wait: Wait = {
        milliseconds,
        end: () => {
          this.#waits.delete(wait);
          resolve();
        },
      };
      this.#waits.add(wait);
      const abort = (): void => {
        this.#waits.delete(wait);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#watchers.get(milliseconds)?.();
    });
  };

  /** What is waited for, in milliseconds. */
  get waits(): number[] {
    return [...this.#waits].map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
  }

  /** Ends a wait of this length, as soon as there is one. */
  async pass(milliseconds: number): Promise<void> {
    const found = [...this.#waits].find((wait) => wait.milliseconds === milliseconds);
    if (found !== undefined) return found.end();
    await new Promise<void>((resolve) => {
      this.#watchers.set(milliseconds, resolve);
    });
    this.#watchers.delete(milliseconds);
    return this.pass(milliseconds);
  }
}
