import { SerialWork } from '../../../thread/serial-work.ts';

/* Everything in a queue is held in memory. */
const maximumLength = 32;

/** Queues, one for each key. Each queue runs one piece of work at a time. */
export class KeyedQueue {
  readonly #queues = new Map<string, { length: number; inOrder: SerialWork }>();

  /** Does work that takes a place in a queue; `undefined` if the queue is full. */
  async enter<RESULT>(
    key: string,
    work: (inOrder: SerialWork) => Promise<RESULT>,
  ): Promise<RESULT | undefined> {
    const queue = this.#queues.get(key) ?? { length: 0, inOrder: new SerialWork() };
    if (queue.length >= maximumLength) return undefined;
    queue.length += 1;
    this.#queues.set(key, queue);
    try {
      return await work(queue.inOrder);
    } finally {
      queue.length -= 1;
      if (queue.length === 0) this.#queues.delete(key);
    }
  }
}
