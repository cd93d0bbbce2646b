import type { DeltaReceiver } from '../model/streaming-model.ts';

/** The text that a custom agent's step writes. */
export class StreamedStep {
  readonly #receiver: DeltaReceiver | undefined;
  readonly #signal: AbortSignal;
  readonly #id: string;
  #written = '';
  #isOver = false;

  /** Without a `receiver`, nothing is streamed. */
  constructor(
    receiver: DeltaReceiver | undefined,
    { step, signal }: { step: number; signal: AbortSignal },
  ) {
    this.#receiver = receiver;
    this.#signal = signal;
    this.#id = `step-${step}`;
  }

  /** The text so far. */
  get written(): string {
    return this.#written;
  }

  /** Does nothing once the step is over: the function may still run after an abort. */
  write(text: string): void {
    if (typeof text !== 'string') {
      throw new TypeError(`write takes a string; got ${typeof text}.`);
    }
    if (this.#isOver || this.#signal.aborted || text === '') return;
    if (this.#written === '') this.#receiver?.push({ type: 'text-start', id: this.#id });
    this.#written += text;
    this.#receiver?.push({ type: 'text-delta', id: this.#id, text });
  }

  /** The step has returned this text. If it continues what was written, the rest is streamed. */
  end(text: string): void {
    if (text.startsWith(this.#written)) this.write(text.slice(this.#written.length));
    this.close();
  }

  /** The step is over. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#written !== '') this.#receiver?.push({ type: 'text-end', id: this.#id });
  }
}
