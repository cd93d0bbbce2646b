import type { CallPlace } from '../../content/tool-call.ts';
import { Bell } from './bell.ts';
import type { Execution } from '../calls/execute-call.ts';

/** Which call, and which of its attempts, ran here. */
export interface Attempt extends CallPlace {
  attempt: number;
}

/** An attempt that is over, and what came of it. */
export interface Finished {
  attempt: Attempt;
  execution: Execution;
}

/* Results that come this close together, in milliseconds, are recorded in one append. */
const groupMs = 10;

/** The calls that one run is executing, and their results until they are recorded. */
export class Executions {
  readonly #bell = new Bell();
  readonly #graceMs: number;
  readonly #onLate: (finished: Finished) => void;
  readonly #running = new Set<Attempt>();
  #finished: Finished[] = [];
  #isLeft = false;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;
  #graceIsOver = false;

  /** `onLate` gets the results that nobody waits for any more. */
  constructor(graceMs: number, onLate: (finished: Finished) => void) {
    this.#graceMs = graceMs;
    this.#onLate = onLate;
  }

  /** Whether a call is running, or has a result that was not taken yet. */
  get pending(): boolean {
    return this.#running.size > 0 || this.#finished.length > 0;
  }

  /** Whether the time that tools have to settle after an abort is over, or none is running. */
  get mayEnd(): boolean {
    return this.#running.size === 0 || this.#graceIsOver;
  }

  /** Takes a call in; `running` never rejects. */
  add(attempt: Attempt, running: Promise<Execution>): void {
    this.#running.add(attempt);
    void running.then((execution) => this.#finish({ attempt, execution }));
  }

  /** Stops waiting for calls whose result came from outside: their tools may never settle, and what they still return is late. */
  keep(isAwaited: (attempt: Attempt) => boolean): void {
    for (const attempt of this.#running) if (!isAwaited(attempt)) this.#running.delete(attempt);
  }

  /** Stops waiting for a call that ignores its time limit: what it still returns is late. */
  giveUp(attempt: Attempt): void {
    if (!this.#running.delete(attempt)) return;
    this.#finished.push({ attempt, execution: { type: 'lost' } });
    this.#bell.ring();
  }

  /** Wakes whoever waits, for news from elsewhere. */
  ring(): void {
    this.#bell.ring();
  }

  /** Waits for a result, for a ring, or for the grace time that begins when `signal` aborts. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    if (this.#finished.length > 0) return;
    const stop = this.#startGrace(signal);
    await this.#bell.wait();
    stop();
    await this.#gather();
  }

  /** The results since the last taking. */
  take(): Finished[] {
    const taken = this.#finished;
    this.#finished = [];
    return taken;
  }

  /** The run is over: what comes from now on, and what was not taken, is late. */
  leave(): void {
    this.#isLeft = true;
    clearTimeout(this.#graceTimer);
    for (const finished of this.take()) this.#onLate(finished);
  }

  #finish(finished: Finished): void {
    const isAwaited = this.#running.delete(finished.attempt);
    if (this.#isLeft || !isAwaited) {
      this.#onLate(finished);
      return;
    }
    this.#finished.push(finished);
    this.#bell.ring();
  }

  /** Fast siblings settle in the same moment: one append for all of them. */
  async #gather(): Promise<void> {
    const time = { isUp: false };
    const timer = setTimeout(() => {
      time.isUp = true;
      this.#bell.ring();
    }, groupMs);
    while (!time.isUp && this.#finished.length > 0 && this.#running.size > 0)
      await this.#bell.wait();
    clearTimeout(timer);
  }

  /** Begins once: to be woken on the way, by a renewal say, does not begin it anew. */
  #startGrace(signal: AbortSignal | undefined): () => void {
    const start = (): void => {
      this.#graceTimer ??= setTimeout(() => {
        this.#graceIsOver = true;
        this.#bell.ring();
      }, this.#graceMs);
    };
    if (signal?.aborted === true) start();
    else signal?.addEventListener('abort', start, { once: true });
    return () => signal?.removeEventListener('abort', start);
  }
}
