import { Writable } from 'node:stream';
import { getColumns, getRows } from '@clack/core';
import { emitThrown } from './raw-terminal.ts';
import type { TerminalOutput } from './terminal-options.ts';

/**
 * The output stream that Clack draws on. It fixes two faults of Clack 1.6.0: Clack writes `undefined`, which a real output
 * refuses, when only the last line of a frame disappeared; and it ignores resizes, which leaves old lines on the screen.
 */
export class ClackOutput extends Writable {
  readonly #output: TerminalOutput;
  readonly #onResize: () => void;
  /** Whether what Clack writes is dropped. */
  isMuted = false;
  /** Whether the line break that Clack writes at the end is passed on: only if the last frame stays on the screen. */
  endsLine = true;

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

  /** Removes the resize listener. */
  detach(): void {
    this.#output.off('resize', this.#onResize);
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, done: () => void): void {
    const isDropped = this.isMuted || (chunk === '\n' && !this.endsLine);
    if (typeof chunk === 'string' && !isDropped) {
      emitThrown(this.#output, () => this.#output.write(chunk));
    }
    done();
  }
}
