import { checkLimit } from '../../../content/check-settings.ts';
import type { Caller } from './callers.ts';

/** A call and its owner. */
export interface OwnedCall {
  caller: Caller;
  /** The `user_id` and the `requesters_digest` of the call. */
  user: readonly [id: string | null, digest: string | null];
  groupId: string;
  id: string;
  callbackUrl: string;
}

interface RunningCall {
  call: OwnedCall;
  stop: AbortController;
  done: Promise<void>;
}

/** Checks whether a message is about a call. */
type IsMeant = (call: OwnedCall) => boolean;

/** The running calls and the last ones that have ended. Each call of a caller and user runs once. */
export class RunningCalls {
  readonly #running = new Map<string, RunningCall>();
  /* Limits apply to each signing caller: one with many calls must not delay another's calls, or make them run again. */
  readonly #ended = new Map<string, Set<string>>();
  readonly #maximumRunning: number;
  readonly #maximumRemembered: number;
  #isClosed = false;

  constructor(maximumRunning = 1_000, maximumRemembered = 10_000) {
    this.#maximumRunning = checkLimit(maximumRunning, 'maximumRunning');
    this.#maximumRemembered = checkLimit(maximumRemembered, 'maximumRemembered');
  }

  /**
   * Starts a call unless it was started before. Returns false if there is no room or the server is closing. The call begins in a later
   * turn of the event loop, after its acknowledgement. `serve` must not reject.
   */
  start(call: OwnedCall, serve: (stop: AbortController) => Promise<void>): boolean {
    const key = makeCallKey(call);
    if (this.#running.has(key) || this.#findEnded(call.caller).has(key)) return true;
    if (this.#isClosed || this.#countRunning(call.caller) >= this.#maximumRunning) return false;
    const stop = new AbortController();
    const turn = new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
    const done = turn.then(() => serve(stop)).finally(() => this.#end(key, call));
    this.#running.set(key, { call, stop, done });
    return true;
  }

  /** Checks whether the result of a call that a message is about has yet to be sent. */
  isRunning(isMeant: IsMeant): boolean {
    return [...this.#running.values()].some(({ call }) => isMeant(call));
  }

  /** Stops the calls that a message is about. */
  stop(isMeant: IsMeant, why: string): void {
    for (const { call, stop } of this.#running.values()) {
      if (isMeant(call)) stop.abort(makeAbortError(why));
    }
  }

  /** Stops all calls and accepts no more; resolves when all have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const calls = [...this.#running.values()];
    for (const { stop } of calls) stop.abort(makeAbortError('The tool server was closed.'));
    await Promise.all(calls.map(({ done }) => done));
  }

  #end(key: string, { caller }: OwnedCall): void {
    this.#running.delete(key);
    const ended = this.#findEnded(caller);
    ended.add(key);
    const [oldest] = ended;
    if (ended.size > this.#maximumRemembered && oldest !== undefined) ended.delete(oldest);
  }

  #countRunning(caller: Caller): number {
    const name = makeLimitKey(caller);
    return [...this.#running.values()].filter(({ call }) => makeLimitKey(call.caller) === name)
      .length;
  }

  #findEnded(caller: Caller): Set<string> {
    const name = makeLimitKey(caller);
    const ended = this.#ended.get(name) ?? new Set();
    this.#ended.set(name, ended);
    return ended;
  }
}

/* Anybody can claim any number of origins, so all unsigned callers share the limits. */
function makeLimitKey({ id, signatures }: Caller): string {
  return JSON.stringify(signatures === undefined ? null : id);
}

/* As JSON, so that different calls never have the same key. */
function makeCallKey({ caller, user, groupId, id }: OwnedCall): string {
  return JSON.stringify([caller.id, user, groupId, id]);
}

function makeAbortError(message: string): DOMException {
  return new DOMException(message, 'AbortError');
}
