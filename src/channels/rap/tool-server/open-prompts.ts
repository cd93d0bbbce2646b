import { randomId } from '../../../content/random-id.ts';

/** The prompts that wait for a selection, each by the secret end of its URL. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();

  /** The secret; `take` gets what is posted there; the first is the answer. */
  open(take: (json: unknown) => void): string {
    const secret = randomId();
    this.#open.set(secret, take);
    return secret;
  }

  /** An answer to no open prompt is nothing. */
  answer(secret: string, json: unknown): void {
    this.#open.get(secret)?.(json);
  }

  close(secret: string): void {
    this.#open.delete(secret);
  }
}
