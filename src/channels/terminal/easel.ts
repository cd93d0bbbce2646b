import { Writable } from 'node:stream';
import { getColumns, getRows } from '@clack/core';
import { attemptOn } from './attempt-on.ts';
import type { TerminalOutput } from './terminal-options.ts';

/**
 * The output as Clack sees it. Where only the last line of a frame went away Clack (1.6.0) writes `undefined`, at which
 * a real output throws.
 */
export class Easel extends Writable {
  readonly #output: TerminalOutput;
  readonly #onResize = (): void => void this.emit('resize');

  constructor(output: TerminalOutput) {
    super({ objectMode: true });
    this.#output = output;
    output.on('resize', this.#onResize);
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
    if (typeof chunk === 'string') attemptOn(this.#output, () => this.#output.write(chunk));
    done();
  }
}
