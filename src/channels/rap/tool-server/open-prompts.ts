import { randomId } from '../../../content/random-id.ts';

/* How many answered prompts are remembered, as the same selection may be sent twice. */
const maximumAnswered = 10_000;

/** The prompts that wait for a selection, by the secret at the end of their URLs. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();
  readonly #answered = new Set<string>();

  /** Opens a prompt and returns its secret. `onSelection` is called with what is posted to its URL. */
  open(onSelection: (json: unknown) => void): string {
    const secret = randomId();
    this.#open.set(secret, onSelection);
    return secret;
  }

  /** Answers a prompt. Returns whether it was open or had been answered before. */
  answer(secret: string, json: unknown): boolean {
    const onSelection = this.#open.get(secret);
    if (onSelection === undefined) return this.#answered.has(secret);
    this.#answered.add(secret);
    const [oldest] = this.#answered;
    if (this.#answered.size > maximumAnswered && oldest !== undefined) {
      this.#answered.delete(oldest);
    }
    onSelection(json);
    return true;
  }

  close(secret: string): void {
    this.#open.delete(secret);
  }
}
