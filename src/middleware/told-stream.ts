import type { AgentStream, AgentStreamEvent } from '../agent/agent-stream.ts';
import type { ProviderPart } from '../agent/model/collected-response.ts';

/** How a run is streamed. */
interface Streaming {
  tell: (event: AgentStreamEvent) => ProviderPart[];
  /** How long a part may wait for a reader, in milliseconds. */
  unreadTimeoutMs: number;
  /** Called when one has waited for longer. */
  onUnread: () => void;
}

/** A run as a provider's stream, which goes as fast as it is read. */
export class ToldStream {
  readonly #events: AsyncIterator<AgentStreamEvent, undefined>;
  readonly #streaming: Streaming;
  readonly #parts: ProviderPart[] = [{ type: 'stream-start', warnings: [] }];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(run: AgentStream, streaming: Streaming) {
    this.#events = run[Symbol.asyncIterator]();
    this.#streaming = streaming;
  }

  /** Runs until there is something to read. Throws what ended the run before that, as a provider rejects a call. */
  async begin(): Promise<void> {
    while (this.#parts.length < 2 && (await this.#hear()));
    const [, first] = this.#parts;
    if (first?.type === 'error') throw first.error;
  }

  /** Reading it is what runs the thread; to cancel it ends the run as an aborted signal does, and waits for that. */
  read(): ReadableStream<ProviderPart> {
    return new ReadableStream(
      {
        start: () => this.#expectReader(),
        pull: async (controller) => {
          clearTimeout(this.#timer);
          try {
            while (this.#parts.length === 0 && (await this.#hear()));
            const part = this.#parts.shift();
            if (part === undefined) return controller.close();
            controller.enqueue(part);
            this.#expectReader();
          } catch (error) {
            await this.#leave();
            throw error;
          }
        },
        cancel: async () => this.#leave(),
      },
      { highWaterMark: 0 },
    );
  }

  /** Takes the next event of the run; `false` at its end. */
  async #hear(): Promise<boolean> {
    const { done, value } = await this.#events.next();
    if (done === true) return false;
    this.#isOver = value.type === 'finish' || value.type === 'error';
    this.#parts.push(...this.#streaming.tell(value));
    return true;
  }

  /* A reader that has left without a word would hold the thread for ever. */
  #expectReader(): void {
    if (this.#isOver) return;
    const { onUnread, unreadTimeoutMs } = this.#streaming;
    this.#timer = setTimeout(onUnread, unreadTimeoutMs);
  }

  async #leave(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#events.return?.();
  }
}
