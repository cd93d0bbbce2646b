import { type RunningLimit, startLimit, type TimeLimits } from './time-limits.ts';

/** What ends a run before its work is done: the app's own signal, a person's stop, or a time limit. */
export class RunSignal {
  /** Aborts when any of them does, with its reason. */
  readonly signal: AbortSignal;
  readonly #appSignal: AbortSignal | undefined;
  readonly #limits: TimeLimits;
  readonly #own = new AbortController();
  #run: RunningLimit | undefined;
  #step: RunningLimit | undefined;
  #stopReason: unknown;

  constructor(appSignal: AbortSignal | undefined, limits: TimeLimits) {
    this.#appSignal = appSignal;
    this.#limits = limits;
    const own = this.#own.signal;
    this.signal = appSignal === undefined ? own : AbortSignal.any([appSignal, own]);
  }

  /** The time of the run begins. */
  beginRun(): void {
    this.#run = this.#started(this.#limits.run, 'The run');
  }

  /** The time of a step begins: of the model, and of the tools that it calls. */
  beginStep(): void {
    this.#step?.end();
    this.#step = this.#started(this.#limits.step, 'The step');
  }

  /** Nothing is limited any more. */
  end(): void {
    this.#run?.end();
    this.#step?.end();
  }

  /** A person wants the run to end. */
  stop(): void {
    if (this.signal.aborted) return;
    this.#stopReason = new DOMException('The run was stopped.', 'AbortError');
    this.#own.abort(this.#stopReason);
  }

  /** Whether a run that failed with this was aborted by the app. */
  isAbort(error: unknown): boolean {
    return this.#appSignal?.aborted === true && error === this.#appSignal.reason;
  }

  /** Whether a run that failed with this was stopped by a person. */
  isStop(error: unknown): boolean {
    return this.#stopReason !== undefined && error === this.#stopReason;
  }

  #started(limit: number | undefined, what: string): RunningLimit | undefined {
    if (limit === undefined) return undefined;
    const running = startLimit(limit, what);
    const { signal } = running;
    signal.addEventListener('abort', () => this.#own.abort(signal.reason), { once: true });
    return running;
  }
}
