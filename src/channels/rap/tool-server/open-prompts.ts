import { randomId } from '../../../content/random-id.ts';
import type { Caller } from './running-calls.ts';

/* How many answered prompts are remembered, as the same selection may be sent twice. */
const maximumAnswered = 10_000;

/** The prompts that wait for a selection, by whose call asks and the secret at the end of their URLs. */
export class OpenPrompts {
  readonly #open = new Map<string, (json: unknown) => void>();
  readonly #answered = new Set<string>();

  /** Opens a prompt to a caller and returns its secret. `onSelection` is called with what the caller posts to its URL. */
  open(caller: Caller, onSelection: (json: unknown) => void): string {
    const secret = randomId();
    this.#open.set(makePromptKey(caller, secret), onSelection);
    return secret;
  }

  /**
   * Answers a prompt. Returns whether it was open, or had been answered before, and is the signer's. Where nothing is signed, the secret
   * suffices.
   */
  answer(signer: Caller | undefined, secret: string, json: unknown): boolean {
    const key = makePromptKey(signer, secret);
    const onSelection = this.#open.get(key);
    if (onSelection === undefined) return this.#answered.has(key);
    this.#answered.add(key);
    const [oldest] = this.#answered;
    if (this.#answered.size > maximumAnswered && oldest !== undefined) {
      this.#answered.delete(oldest);
    }
    onSelection(json);
    return true;
  }

  close(caller: Caller, secret: string): void {
    this.#open.delete(makePromptKey(caller, secret));
  }
}

function makePromptKey(caller: Caller | undefined, secret: string): string {
  const signer = caller?.signatures === undefined ? null : caller.id;
  return JSON.stringify([signer, secret]);
}
