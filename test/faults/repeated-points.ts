import type { MortalProcess } from './mortal-process.ts';

/**
 * Finds the points at which a crash leaves behind just what a crash at the point before leaves: a process dies after one call of a port, or
 * before its next, and in between it has reached nothing outside itself. So that nobody else has either, at both points no port is at work,
 * nobody awaits another process, and the same call of the process's agent is under way.
 */
export class RepeatedPoints {
  readonly found = new Set<number>();
  readonly #awaited = new Set<MortalProcess>();
  #calls: MortalProcess[] = [];
  #portsAtWork = 0;
  /** The process for which all of that held after the latest point, if that was the end of a port's work. */
  #quiet: MortalProcess | undefined;

  pass(point: number, process: MortalProcess, side: 'before' | 'after'): void {
    const isAlone = this.#awaited.size === 1 && this.#awaited.has(process);
    const isInOneCall = this.#calls.length === 1 && this.#calls[0] === process;
    const quiet = isAlone && isInOneCall && this.#portsAtWork === 0 ? process : undefined;
    if (side === 'before' && quiet !== undefined && quiet === this.#quiet) this.found.add(point);
    this.#quiet = side === 'after' ? quiet : undefined;
  }

  async duringPort<RESULT>(work: () => PromiseLike<RESULT>): Promise<RESULT> {
    this.#portsAtWork += 1;
    try {
      return await work();
    } finally {
      this.#portsAtWork -= 1;
    }
  }

  /** Notes that somebody waits for a process, until it has done its work or is dead. */
  async whileAwaited<RESULT>(process: MortalProcess, work: Promise<RESULT>): Promise<RESULT> {
    this.#awaited.add(process);
    try {
      return await work;
    } finally {
      this.#awaited.delete(process);
    }
  }

  /** Notes a call of the agent of a process. Whoever makes it may have done anything before. */
  call(process: MortalProcess, work: () => unknown): unknown {
    this.#quiet = undefined;
    this.#calls.push(process);
    const end = (): void => {
      this.#calls.splice(this.#calls.indexOf(process), 1);
    };
    const result = work();
    if (result instanceof Promise) result.then(end, end);
    else end();
    return result;
  }

  /** Nothing of the calls of a dead process gets out. */
  bury(process: MortalProcess): void {
    this.#calls = this.#calls.filter((each) => each !== process);
  }
}
