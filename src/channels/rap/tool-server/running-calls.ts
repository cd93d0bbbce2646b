import { checkedLimit } from '../../../content/checked-number.ts';

interface RunningCall {
  groupId: string;
  stop: AbortController;
  done: Promise<void>;
}

/** The running calls and the last ones that have ended. Each call runs once. */
export class RunningCalls {
  readonly #running = new Map<string, RunningCall>();
  readonly #ended = new Set<string>();
  readonly #maximumRunning: number;
  readonly #maximumRemembered: number;
  #isClosed = false;

  constructor(maximumRunning = 1_000, maximumRemembered = 10_000) {
    this.#maximumRunning = checkedLimit(maximumRunning, 'maximumRunning');
    this.#maximumRemembered = checkedLimit(maximumRemembered, 'maximumRemembered');
  }

  /**
   * Starts a call unless it was started before. Returns false if there is no room or the server is closing. The call begins in a later
   * turn of the event loop, after its acknowledgement. `serve` must not reject.
   */
  start(groupId: string, id: string, serve: (stop: AbortController) => Promise<void>): boolean {
    const key = keyOf(groupId, id);
    if (this.#running.has(key) || this.#ended.has(key)) return true;
    if (this.#isClosed || this.#running.size >= this.#maximumRunning) return false;
    const stop = new AbortController();
    const turn = new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    const done = turn.then(() => serve(stop)).finally(() => this.#end(key));
    this.#running.set(key, { groupId, stop, done });
    return true;
  }

  /** Whether the result of a call has yet to be sent. */
  isRunning(groupId: string, id: string): boolean {
    return this.#running.has(keyOf(groupId, id));
  }

  /** Stops a call. */
  cancel(groupId: string, id: string): void {
    this.#running.get(keyOf(groupId, id))?.stop.abort(aborted('The call was cancelled.'));
  }

  /** Stops all calls of a conversation. */
  closeGroup(groupId: string): void {
    for (const call of this.#running.values()) {
      if (call.groupId === groupId) call.stop.abort(aborted('The conversation was closed.'));
    }
  }

  /** Stops all calls and accepts no more; resolves when all have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#running.values()];
    for (const { stop } of calls) stop.abort(aborted('The tool server was closed.'));
    await Promise.all(calls.map(({ done }) => done));
  }

  #end(key: string): void {
    this.#running.delete(key);
    this.#ended.add(key);
    const [oldest] = this.#ended;
    if (this.#ended.size > this.#maximumRemembered && oldest !== undefined) {
      this.#ended.delete(oldest);
    }
  }
}

/* As JSON, so that different pairs never have the same key. */
function keyOf(groupId: string, id: string): string {
  return JSON.stringify([groupId, id]);
}

function aborted(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}
