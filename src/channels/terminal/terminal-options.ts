import type { Readable, Writable } from 'node:stream';

/** Where keys and lines come from: `process.stdin`, or any stream; one with `setRawMode` gives single keys. */
export interface TerminalInput extends Readable {
  isTTY?: boolean;
  isRaw?: boolean;
  setRawMode?(mode: boolean): unknown;
}

/** What is drawn on: `process.stdout`, or any stream. */
export interface TerminalOutput extends Writable {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
}

/** Where people are asked. */
export interface TerminalOptions {
  /** Default `process.stdin`. */
  input?: TerminalInput;
  /** Default `process.stdout`. */
  output?: TerminalOutput;
  /** Closes what is asked, when it was answered elsewhere; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Both ends of a terminal. */
export interface TerminalStreams {
  input: TerminalInput;
  output: TerminalOutput;
}

/** Whether single keys can be read and a frame be redrawn; if not, a numbered list is asked line by line. */
export function isInteractive({ input, output }: TerminalStreams): boolean {
  return (
    input.isTTY === true &&
    typeof input.setRawMode === 'function' &&
    output.isTTY === true &&
    process.env['TERM'] !== 'dumb'
  );
}
