import { randomId } from '../../../content/random-id.ts';

/* How many answered prompts are known, the latest: the same selection may come twice. */
const maximumAnswered = 10_000;

/** The prompts that wait for a selection, each by the secret end of its URL. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();
  readonly #answered = new Set<string>();

  /** The secret; `take` gets what is posted there; the first is the answer. */
  open(take: (json: unknown) => void): string {
    const secret = randomId();
    this.#open.set(secret, take);
    return secret;
  }

  /** Whether the prompt is open, and takes this, or was answered before. */
  answer(secret: string, json: unknown): boolean {
    const take = this.#open.get(secret);
    if (take === undefined) return this.#answered.has(secret);
    this.#answered.add(secret);
    const [oldest] = this.#answered;
    if (this.#answered.size > maximumAnswered && oldest !== undefined) {
      this.#answered.delete(oldest);
    }
    take(json);
    return true;
  }

  close(secret: string): void {
    this.#open.delete(secret);
  }
}
