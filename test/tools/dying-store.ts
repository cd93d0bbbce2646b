import type { ThreadStore } from 'holdpoint';

const brand: unique symbol = Symbol.for('holdpoint.error');

/** The process has died; nothing that it does reaches the store. */
export class Died extends Error {
  override readonly name = 'Died';
  /* Not retryable, like holdpoint's own errors: a dead process retries nothing, and no test waits for retries. */
  readonly [brand] = true;
}

/**
 * A store as a process sees it that dies at its append number `point`: before the append, or after it with its reply lost.
 * Beyond, every use of the store fails.
 */
export function dyingStore(store: ThreadStore, point: number, when: 'before' | 'after') {
  let appends = 0;
  let isDead = false;
  const alive = async <RESULT>(work: () => Promise<RESULT>): Promise<RESULT> => {
    if (isDead) throw new Died();
    return work();
  };
  const dying: ThreadStore = {
    ...(store.requests && { requests: store.requests }),
    read: async (...input) => alive(async () => store.read(...input)),
    head: async (...input) => alive(async () => store.head(...input)),
    list: async (...input) => alive(async () => store.list(...input)),
    count: async (...input) => alive(async () => store.count(...input)),
    claim: async (...input) => alive(async () => store.claim(...input)),
    delete: async (...input) => alive(async () => store.delete(...input)),
    append: async (...input) =>
      alive(async () => {
        appends += 1;
        isDead = appends === point;
        if (isDead && when === 'before') throw new Died();
        await store.append(...input);
        if (isDead) throw new Died();
      }),
  };
  return {
    store: dying,
    /** Lets the process die now. */
    die: () => void (isDead = true),
    get isDead() {
      return isDead;
    },
  };
}
