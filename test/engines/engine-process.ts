import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '../support/waiting.ts';

/** A program that a test has started. */
export class EngineProcess {
  /** Resolves when it has ended. */
  readonly end: Promise<unknown>;
  readonly #child: ChildProcess;
  #output = '';
  #hasEnded = false;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.end = once(child, 'close').then(() => (this.#hasEnded = true));
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()));
  }

  get output(): string {
    return this.#output;
  }

  /** Resolves once the output matches; rejects if the program ends before. */
  async printed(pattern: RegExp): Promise<void> {
    const isOver = () => this.#hasEnded || pattern.test(this.#output);
    await waitUntil(isOver, { timeout: 60_000, interval: 10 });
    if (!pattern.test(this.#output)) throw new Error(`It has ended: ${this.#output}`);
  }

  /** Kills it, and waits until it is gone. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.end;
  }
}
