import type { Readable, Writable } from 'node:stream';

/** The stream that keys and lines are read from: `process.stdin` or any other. Single keys need `setRawMode`. */
export interface TerminalInput extends Readable {
  isTTY?: boolean;
  isRaw?: boolean;
  setRawMode?(mode: boolean): unknown;
}

/** The stream that frames and lines are written to: `process.stdout` or any other. */
export interface TerminalOutput extends Writable {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** The terminal at which a person is asked. */
export interface TerminalOptions {
  /** Default `process.stdin`. */
  input?: TerminalInput;
  /** Default `process.stdout`. */
  output?: TerminalOutput;
  /** Closes the question when it aborts, for one that was answered elsewhere; the promise rejects with its reason. */
  signal?: AbortSignal;
}

/** The two streams of a terminal. */
export interface TerminalStreams {
  input: TerminalInput;
  output: TerminalOutput;
}

/** Whether single keys can be read and a frame can be redrawn; if not, questions are asked with numbered lists, line by line. */
export function isInteractive({ input, output }: TerminalStreams): boolean {
  return (
    input.isTTY === true &&
    typeof input.setRawMode === 'function' &&
    output.isTTY === true &&
    process.env['TERM'] !== 'dumb'
  );
}
