/** Resolves with the result of the work, or rejects with the signal's reason once it aborts. A later result is ignored. */
export function awaitUntilAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal | undefined,
): Promise<RESULT> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const settle = <VALUE>(proceed: (value: VALUE) => void, value: VALUE): void => {
      signal.removeEventListener('abort', abort);
      proceed(value);
    };
    work.then(
      (result) => settle(resolve, result),
      (error: unknown) => settle(reject, error),
    );
  });
}

/** The result of the work, or `undefined` once the signal aborts. */
export async function unlessAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal,
): Promise<RESULT | undefined> {
  try {
    return await awaitUntilAborted(work, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Resolves after a time in milliseconds, or early if the signal aborts. */
export async function waitForTimer(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(handle);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const handle = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Begins a limit of time, which `wait` waits for. Its signal aborts when the time is over, or at `stop`. */
export function startTimeLimit(
  milliseconds: number,
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>,
): { signal: AbortSignal; stop: () => void } {
  const over = new AbortController();
  const stopped = new AbortController();
  const end = (): void => over.abort();
  void wait(milliseconds, stopped.signal).then(end, end);
  return { signal: over.signal, stop: () => stopped.abort() };
}

/** A wake-up for one waiter. A `wake` before `wait` is not lost. */
export class WakeUp {
  #isWoken = false;
  #endWait: (() => void) | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#endWait?.();
  }

  /** Resolves at the next `wake`, or at once if there was one since the last `wait`. */
  async wait(): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#endWait = resolve;
      });
    }
    this.#isWoken = false;
  }
}

/** Lets one piece of work be done at a time, in order. */
export class SerialWork {
  #isBusy = false;
  /** The work that waits for its turn. */
  readonly #waiting: (() => void)[] = [];

  async run<RESULT>(work: () => Promise<RESULT>): Promise<RESULT> {
    const turn = this.begin();
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      this.end();
    }
  }

  /** Begins a piece of work, which ends with `end`; if others are at work, the promise resolves when it is its turn. */
  begin(): Promise<void> | undefined {
    if (this.#isBusy) return new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isBusy = true;
    return undefined;
  }

  end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  }
}
