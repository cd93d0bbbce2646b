import type { DeltaReceiver } from '../model/streaming-model.ts';

/** The text of a custom agent's step, as it is streamed. */
export class StreamedStep {
  readonly #receiver: DeltaReceiver | undefined;
  readonly #id: string;
  #isStarted = false;

  /** Without a `receiver`, nothing is streamed. */
  constructor(receiver: DeltaReceiver | undefined, step: number) {
    this.#receiver = receiver;
    this.#id = `step-${step}`;
  }

  write(text: string): void {
    if (!this.#isStarted) this.#receiver?.push({ type: 'text-start', id: this.#id });
    this.#isStarted = true;
    this.#receiver?.push({ type: 'text-delta', id: this.#id, text });
  }

  /** The step has returned this text, which is streamed now if no part of it was. */
  end(text = ''): void {
    if (!this.#isStarted && text !== '') this.write(text);
    if (this.#isStarted) this.#receiver?.push({ type: 'text-end', id: this.#id });
  }
}
