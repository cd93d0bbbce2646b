import { checkedLimit } from '../../../content/checked-number.ts';

interface RunningCall {
  groupId: string;
  stop: AbortController;
  done: Promise<void>;
}

/** The calls at work, and the latest that have ended: each runs once. */
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
   * Whether a call is taken, or was before. It begins in a turn of its own: first it is acknowledged. `serve` does not
   * reject.
   */
  take(groupId: string, id: string, serve: (stop: AbortController) => Promise<void>): boolean {
    const name = nameOf(groupId, id);
    if (this.#running.has(name) || this.#ended.has(name)) return true;
    if (this.#isClosed || this.#running.size >= this.#maximumRunning) return false;
    const stop = new AbortController();
    const turn = new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    const done = turn.then(() => serve(stop)).finally(() => this.#end(name));
    this.#running.set(name, { groupId, stop, done });
    return true;
  }

  /** Whether the result of a call is still to come. */
  isRunning(groupId: string, id: string): boolean {
    return this.#running.has(nameOf(groupId, id));
  }

  /** One call is not wanted any more. */
  cancel(groupId: string, id: string): void {
    this.#running.get(nameOf(groupId, id))?.stop.abort(aborted('The call was cancelled.'));
  }

  /** No call of a conversation is wanted any more. */
  closeGroup(groupId: string): void {
    for (const call of this.#running.values()) {
      if (call.groupId === groupId) call.stop.abort(aborted('The conversation was closed.'));
    }
  }

  /** No call is wanted any more, and none is taken; resolves when all have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#running.values()];
    for (const { stop } of calls) stop.abort(aborted('The tool server was closed.'));
    await Promise.all(calls.map(({ done }) => done));
  }

  #end(name: string): void {
    this.#running.delete(name);
    this.#ended.add(name);
    const [oldest] = this.#ended;
    if (this.#ended.size > this.#maximumRemembered && oldest !== undefined) {
      this.#ended.delete(oldest);
    }
  }
}

/* As JSON, so that no two pairs have one name. */
function nameOf(groupId: string, id: string): string {
  return JSON.stringify([groupId, id]);
}

function aborted(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}
