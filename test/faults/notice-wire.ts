import type { ClaimDraws } from './claim-draws.ts';
import type { MortalProcess } from './mortal-process.ts';

/** Brings notices to processes, each on its own way: late, twice, or not at all. */
export class NoticeWire<MESSAGE> {
  readonly #draws: Pick<ClaimDraws, 'fate' | 'keepsOrder'>;
  readonly #lines: NoticeLine<MESSAGE>[] = [];

  constructor(draws: Pick<ClaimDraws, 'fate' | 'keepsOrder'>) {
    this.#draws = draws;
  }

  /** What a process hears by. */
  connect(process: MortalProcess): NoticeLine<MESSAGE> {
    const line = new NoticeLine<MESSAGE>(process);
    this.#lines.push(line);
    return line;
  }

  send(message: MESSAGE): void {
    for (const line of this.#lines) {
      if (!line.isUsed) continue;
      for (const ms of this.#draws.fate()) {
        const way = this.#draws.keepsOrder ? line.queue(ms) : ms;
        setTimeout(() => line.bring(message), way);
      }
    }
  }

  /** Cuts a process off for a while. */
  deafen(process: MortalProcess, ms: number): void {
    const lines = this.#lines.filter((line) => line.process === process);
    for (const line of lines) line.cut();
    setTimeout(() => {
      for (const line of lines) line.mend();
    }, ms);
  }
}

/** What listens to a line. */
export interface LineListener<MESSAGE> {
  hear(message: MESSAGE): unknown;
  /** Called when the line is mended; what was sent meanwhile is lost. */
  reconnect?(): void;
  /** Called when the line is cut. */
  lose?(): void;
}

/** How notices come to one process. */
export class NoticeLine<MESSAGE> {
  readonly process: MortalProcess;
  readonly #listeners = new Set<LineListener<MESSAGE>>();
  isCut = false;
  /** When the latest notice arrives. */
  #latest = 0;

  constructor(process: MortalProcess) {
    this.process = process;
  }

  get isUsed(): boolean {
    return this.#listeners.size > 0 && !this.process.isDead;
  }

  /** Returns a function that ends the listening. */
  listen(listener: LineListener<MESSAGE>): () => Promise<void> {
    this.#listeners.add(listener);
    return async () => void this.#listeners.delete(listener);
  }

  /** How long a notice is on its way that would take so long, and comes after all before it. */
  queue(ms: number): number {
    this.#latest = Math.max(this.#latest, Date.now() + ms);
    return this.#latest - Date.now();
  }

  bring(message: MESSAGE): void {
    if (!this.isCut) this.#each((listener) => listener.hear(message));
  }

  cut(): void {
    this.isCut = true;
    this.#each((listener) => listener.lose?.());
  }

  mend(): void {
    this.isCut = false;
    this.#each((listener) => listener.reconnect?.());
  }

  #each(tell: (listener: LineListener<MESSAGE>) => void): void {
    if (!this.process.isDead) for (const listener of this.#listeners) tell(listener);
  }
}
