type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/* A route waits longer than this only for the end of a connection. */
const longestPollMs = 1_000;

/** A connection that somebody holds open. It looks at the thread when it is told to. */
export class HeldConnection {
  readonly #closed = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;
  #next = Promise.withResolvers<void>();
  #waits = Promise.withResolvers<void>();
  isOver = false;

  /** `connect` sends the request, and resolves when the response has ended. */
  constructor(connect: (wait: Wait) => Promise<unknown>) {
    const end = (): void => {
      this.isOver = true;
    };
    this.#ended = connect(async (milliseconds, signal) =>
      milliseconds > longestPollMs ? this.#untilClosed(signal) : this.#untilNext(signal),
    ).then(end, end);
  }

  /** Resolves when it waits, or has ended. */
  async settled(): Promise<void> {
    await Promise.race([this.#waits.promise, this.#ended]);
  }

  /** Lets it look once, and do what comes of it. */
  async look(): Promise<void> {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    this.#waits = Promise.withResolvers();
    resolve();
    await this.settled();
  }

  async close(): Promise<void> {
    this.#closed.resolve();
    await this.#ended;
  }

  async #untilClosed(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#closed.promise, aborted(signal)]);
  }

  async #untilNext(signal: AbortSignal): Promise<void> {
    this.#waits.resolve();
    await Promise.race([this.#next.promise, aborted(signal)]);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
