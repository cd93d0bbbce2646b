import { EventEmitter } from 'eventemitter3';
import type { StoreNotice, ThreadNotice, ThreadSummary } from '../../thread/thread-store.ts';
import type { RequestChange } from '../../thread/thread-store-requests.ts';

/** The subscribers of a store's notices. `NOTICES` are the arguments of their listeners. */
export class Notices<NOTICES extends unknown[] = [notice?: StoreNotice]> {
  readonly #emitter = new EventEmitter();

  get hasSubscribers(): boolean {
    return this.#emitter.listenerCount('notice') > 0;
  }

  /** Returns a function that ends the subscription. */
  subscribe(listener: (...notice: NOTICES) => void): () => void {
    /* In a microtask: a listener that throws neither makes an append fail nor keeps the notice from the others. */
    const receive = (...notice: NOTICES): void =>
      queueMicrotask(() => {
        if (this.#emitter.listeners('notice').includes(receive)) listener(...notice);
      });
    this.#emitter.on('notice', receive);
    return () => void this.#emitter.off('notice', receive);
  }

  /** Notifies every subscriber; of an append without a notice, if any thread may have changed. */
  notify(...notice: NOTICES): void {
    this.#emitter.emit('notice', ...notice);
  }

  /** Ends all subscriptions. */
  end(): void {
    this.#emitter.removeAllListeners();
  }
}

/**
 * The notice for subscribers about an append; `undefined` if it changes no request, and only the thread's own run can act on it.
 */
export function makeNotice(
  { threadId, agent, status, nextDeadline }: ThreadSummary,
  requests: readonly RequestChange[] = [],
): ThreadNotice | undefined {
  const isForWorkers = status !== 'running' && nextDeadline !== undefined;
  if (!isForWorkers && requests.length === 0) return undefined;
  return {
    type: 'thread',
    threadId,
    ...(agent === undefined ? {} : { agent }),
    ...(nextDeadline === undefined ? {} : { nextDeadline }),
    ...(requests.length === 0
      ? {}
      : { requestIds: requests.map(({ request }) => request.requestId) }),
  };
}
