import { randomId } from '../../../content/random-id.ts';

/** The prompts that wait for a selection, each by the secret end of its URL. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();

  /** The secret; `take` gets the first answer to it. */
  open(take: (json: unknown) => void): string {
    const secret = randomId();
    this.#open.set(secret, take);
    return secret;
  }

  /** The first answer counts; one to no open prompt is nothing. */
  answer(secret: string, json: unknown): void {
    const take = this.#open.get(secret);
    this.#open.delete(secret);
    take?.(json);
  }

  close(secret: string): void {
    this.#open.delete(secret);
  }
}
