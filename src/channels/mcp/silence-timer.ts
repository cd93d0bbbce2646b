type Wait = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Aborts its signal after a time of silence, which `restart` begins. */
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

  /** Something was heard. */
  restart(): void {
    this.stop();
    if (this.#pauses === 0) void this.#listen(this.#heard.signal);
  }

  /** The time of the work does not count. */
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
