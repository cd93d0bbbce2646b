/* Everything in a queue is held in memory. */
const maximumLength = 32;

interface Queue {
  length: number;
  last: Promise<unknown>;
}

/** Runs work after all work of the same queue that was passed before. */
export type RunInOrder = <RESULT>(work: () => Promise<RESULT>) => Promise<RESULT>;

/** Queues, one for each key. Each queue runs one piece of work at a time. */
export class KeyedQueue {
  readonly #queues = new Map<string, Queue>();

  /** Does work that takes a place in a queue; `undefined` if the queue is full. */
  async enter<RESULT>(
    key: string,
    work: (runInOrder: RunInOrder) => Promise<RESULT>,
  ): Promise<RESULT | undefined> {
    const queue = this.#queues.get(key) ?? { length: 0, last: Promise.resolve() };
    if (queue.length >= maximumLength) return undefined;
    queue.length += 1;
    this.#queues.set(key, queue);
    try {
      return await work(async (task) => {
        const run = queue.last.then(task);
        queue.last = run.catch(() => {});
        return run;
      });
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(key);
    }
  }
}
