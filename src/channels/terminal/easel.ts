import { Writable } from 'node:stream';
import { getColumns, getRows } from '@clack/core';
import { attemptOn } from './attempt-on.ts';
import type { TerminalOutput } from './terminal-options.ts';

/**
 * The output as Clack sees it. Where only the last line of a frame went away Clack (1.6.0) writes `undefined`, at which
 * a real output throws. Clack hears of no resize: it takes lines for lost that are still there, and leaves them.
 */
export class Easel extends Writable {
  readonly #output: TerminalOutput;
  readonly #onResize: () => void;
  /** Whether what Clack writes is dropped. */
  isMuted = false;
  /** Whether the last frame stays, so that the line break that Clack writes after it has something to end. */
  leavesLine = true;

  constructor(output: TerminalOutput, onResize: () => void) {
    super({ objectMode: true });
    this.#output = output;
    this.#onResize = onResize;
    output.on('resize', onResize);
  }

  get columns(): number {
    return getColumns(this.#output);
  }

  get rows(): number {
    return getRows(this.#output);
  }

  /** Takes no further note of the output. */
  leave(): void {
    this.#output.off('resize', this.#onResize);
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    const isDropped = this.isMuted || (chunk === '\n' && !this.leavesLine);
    if (typeof chunk === 'string' && !isDropped) {
      attemptOn(this.#output, () => this.#output.write(chunk));
    }
    done();
  }
}
