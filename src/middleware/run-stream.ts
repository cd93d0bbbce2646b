import type { AgentStream, AgentStreamEvent, ProviderPart, ProviderResponse } from '../agent.ts';

/** Options for the stream of a run. */
interface RunStreamOptions {
  /** The warnings for the caller's program. */
  warnings: ProviderResponse['warnings'];
  partsOf: (event: AgentStreamEvent) => ProviderPart[];
  /** The time that a part may wait for a reader, in milliseconds. */
  unreadTimeoutMs: number;
  /** Called when a part has waited longer than that. */
  onUnread: () => void;
  /** The run that replaces one that was refused before it began, if any. */
  insteadOf: (error: unknown) => AgentStream | undefined;
}

/** A run as a provider's stream. The run advances only as fast as the stream is read. */
export class ProviderRunStream {
  #events: AsyncIterator<AgentStreamEvent, undefined>;
  readonly #options: RunStreamOptions;
  readonly #parts: ProviderPart[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(run: AgentStream, options: RunStreamOptions) {
    this.#events = run[Symbol.asyncIterator]();
    this.#options = options;
    this.#parts = [{ type: 'stream-start', warnings: options.warnings }];
  }

  /** Runs until the first part. Throws an error that ended the run before it, as a provider's `doStream` rejects. */
  async begin(): Promise<void> {
    while (this.#parts.length < 2 && (await this.#nextEvent()));
    const [, first] = this.#parts;
    if (first?.type === 'error') throw first.error;
  }

  /** Returns the stream. Reading it advances the run; cancelling it ends the run like an aborted signal, and waits for the end. */
  read(): ReadableStream<ProviderPart> {
    return new ReadableStream(
      {
        start: () => this.#startTimer(),
        pull: async (controller) => {
          clearTimeout(this.#timer);
          try {
            while (this.#parts.length === 0 && (await this.#nextEvent()));
            const part = this.#parts.shift();
            if (part === undefined) return controller.close();
            controller.enqueue(part);
            this.#startTimer();
          } catch (error) {
            await this.#cancel();
            throw error;
          }
        },
        cancel: async () => this.#cancel(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Takes the next event of the run; `false` at its end. */
  async #nextEvent(): Promise<boolean> {
    const { done, value } = await this.#events.next();
    if (done === true) return false;
    const instead = value.type === 'error' ? this.#options.insteadOf(value.error) : undefined;
    if (instead !== undefined) {
      this.#events = instead[Symbol.asyncIterator]();
      return true;
    }
    this.#isOver = value.type === 'finish' || value.type === 'error';
    this.#parts.push(...this.#options.partsOf(value));
    return true;
  }

  /* A reader that stops reading without cancelling would hold the thread's lease forever. */
  #startTimer(): void {
    if (this.#isOver) return;
    const { onUnread, unreadTimeoutMs } = this.#options;
    this.#timer = setTimeout(onUnread, unreadTimeoutMs);
  }

  async #cancel(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#events.return?.();
  }
}
