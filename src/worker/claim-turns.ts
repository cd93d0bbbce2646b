import { makeRandomId } from '../content/crypto.ts';
import type { ClaimNotice } from '../thread/thread-store.ts';

/* The additional time, after the worker before it, that a worker waits for a notice that a thread was claimed, in milliseconds. */
const turnMs = 50;

/* The maximum number of turns that it waits, even if more workers seem to come before it: they may all be gone. */
const mostTurns = 4;

/**
 * Decides which of the workers that are notified of a due thread claims it. All order the workers that they know to be free by a hash of
 * worker and thread: the first one claims at once, and each of the others only if no notice of a claim has come by its turn. If a worker
 * knows too many or too few, that costs some turns, or a claim that finds nothing. No thread depends on it: the store gives it to one
 * worker, and polls find missed threads. See ADR 22.
 */
export class ClaimTurns {
  /** The id of this worker. */
  readonly worker: string = makeRandomId();
  readonly #own = hashText(this.worker);
  readonly #claim: (threadId: string) => void;
  /** The others that are free, with their hashes. */
  readonly #free = new Map<string, number>();
  /** The threads that others may claim first. */
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();

  /** `claim` is called for a thread when it is this worker's turn. */
  constructor(claim: (threadId: string) => void) {
    this.#claim = claim;
  }

  /** Records that a thread is due. */
  addDue(threadId: string): void {
    if (this.#waiting.has(threadId)) return;
    const ahead = this.#listAhead(threadId, this.#own).length;
    if (ahead === 0) return this.#claim(threadId);
    const take = (): void => {
      this.#endTurns(threadId, this.#own);
      this.#claim(threadId);
    };
    this.#waiting.set(threadId, setTimeout(take, Math.min(ahead, mostTurns) * turnMs));
  }

  /** Records a notice of another worker. */
  addClaim({ worker, threadId, isFree }: ClaimNotice): void {
    if (worker === this.worker) return;
    const hash = hashText(worker);
    if (threadId !== undefined) this.#endTurns(threadId, hash);
    if (isFree) this.#free.set(worker, hash);
    else this.#free.delete(worker);
  }

  /** Forgets all threads. */
  end(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  /**
   * Ends the wait for a thread. Workers whose turn came before that of the worker with this hash have not answered: they are not free, or
   * gone.
   */
  #endTurns(threadId: string, hash: number): void {
    const timer = this.#waiting.get(threadId);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#waiting.delete(threadId);
    for (const silent of this.#listAhead(threadId, hash)) this.#free.delete(silent);
  }

  /** The free workers whose turn comes before that of the worker with this hash. */
  #listAhead(threadId: string, hash: number): string[] {
    const thread = hashText(threadId);
    const own = mix(thread ^ hash);
    return [...this.#free].filter(([, other]) => mix(thread ^ other) < own).map(([id]) => id);
  }
}

/** FNV-1a of a text, as 32 bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** Spreads 32 bits evenly, as the last step of MurmurHash3 does. */
function mix(bits: number): number {
  const first = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
