type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Aborts its signal after a period of silence, which `restart` begins again. */
export class SilenceTimer {
  readonly #milliseconds: number;
  readonly #wait: Wait;
  readonly #over = new AbortController();
  #heard = new AbortController();
  #pauses = 0;

  constructor(milliseconds: number, wait: Wait) {
    this.#milliseconds = milliseconds;
    this.#wait = wait;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Restarts the silence, because something was heard. */
  restart(): void {
    this.stop();
    if (this.#pauses === 0) void this.#listen(this.#heard.signal);
  }

  /** Pauses the timer during the work. */
  async pauseDuring<RESULT>(work: Promise<RESULT>): Promise<RESULT> {
    this.#pauses += 1;
    this.restart();
    try {
      return await work;
    } finally {
      this.#pauses -= 1;
      this.restart();
    }
  }

  stop(): void {
    this.#heard.abort();
    this.#heard = new AbortController();
  }

  async #listen(heard: AbortSignal): Promise<void> {
    await this.#wait(this.#milliseconds, heard).catch(() => {});
    if (heard.aborted) return;
    const seconds = this.#milliseconds / 1_000;
    this.#over.abort(new Error(`Nothing was heard for ${seconds} seconds.`));
  }
}
