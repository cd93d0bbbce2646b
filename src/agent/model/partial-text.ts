import type { AssistantModelMessage } from 'ai';
import type { ModelDelta, DeltaReceiver } from './streaming-model.ts';

/** Keeps the text that a model streams, for a step that a person stops. */
export class PartialText implements DeltaReceiver {
  readonly #receiver: DeltaReceiver;
  readonly #texts = new Map<string, string>();

  constructor(receiver: DeltaReceiver) {
    this.#receiver = receiver;
  }

  async ready(): Promise<void> {
    await this.#receiver.ready();
  }

  push(delta: ModelDelta): void {
    if (delta.type === 'text-delta') {
      this.#texts.set(delta.id, (this.#texts.get(delta.id) ?? '') + delta.text);
    }
    this.#receiver.push(delta);
  }

  /**
   * The text as a message; `undefined` without text. Reasoning and calls are left out: providers reject reasoning without its end, and a
   * call that was cut off is incomplete.
   */
  get message(): AssistantModelMessage | undefined {
    const texts = [...this.#texts.values()].filter((text) => text.trim() !== '');
    if (texts.length === 0) return undefined;
    const content = texts.map((text) => ({ type: 'text' as const, text: text.toWellFormed() }));
    return { role: 'assistant', content };
  }
}
