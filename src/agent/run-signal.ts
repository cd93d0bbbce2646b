/** What ends a run before its work is done: the app's own signal, or a person's stop. */
export class RunSignal {
  /** Aborts when any of them does, with its reason. */
  readonly signal: AbortSignal;
  readonly #appSignal: AbortSignal | undefined;
  readonly #stop = new AbortController();

  constructor(appSignal: AbortSignal | undefined) {
    this.#appSignal = appSignal;
    const own = [this.#stop.signal];
    this.signal = AbortSignal.any(appSignal === undefined ? own : [appSignal, ...own]);
  }

  /** A person wants the run to end. */
  stop(): void {
    this.#stop.abort(new DOMException('The run was stopped.', 'AbortError'));
  }

  /** Whether a run that failed with this was aborted by the app. */
  isAbort(error: unknown): boolean {
    return this.#appSignal?.aborted === true && error === this.#appSignal.reason;
  }

  /** Whether a run that failed with this was stopped by a person. */
  isStop(error: unknown): boolean {
    return this.#stop.signal.aborted && error === this.#stop.signal.reason;
  }
}
