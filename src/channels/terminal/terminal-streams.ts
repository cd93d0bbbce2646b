import type { Readable, Writable, Stream } from 'node:stream';

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
  /**
   * Closes the question when it aborts, such as one that was answered elsewhere; the promise rejects with its reason. If that is an `Error`
   * of yours, its message is shown: `new Error('Rejected by ben: Too expensive')`.
   */
  signal?: AbortSignal;
  /**
   * Asks line by line, with numbered lists instead of frames that are redrawn: for a screen reader, a log or a slow connection. Only the
   * word `approve` approves a call then. Default `false`; `TERM=dumb` does the same.
   */
  linear?: boolean;
}

/** The two streams of a terminal. */
export interface TerminalStreams {
  input: TerminalInput;
  output: TerminalOutput;
}

/** Checks whether single keys can be read and a frame can be redrawn; if not, questions are asked with numbered lists, line by line. */
export function isInteractive({ input, output }: TerminalStreams): boolean {
  return (
    input.isTTY === true &&
    typeof input.setRawMode === 'function' &&
    output.isTTY === true &&
    process.env['TERM'] !== 'dumb'
  );
}

const enableBracketedPaste = '\u001B[?2004h';
const disableBracketedPasteAndShowCursor = '\u001B[?2004l\u001B[?25h';
const fatalSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A terminal in raw mode. Disposing it restores the terminal. */
export interface RawTerminal extends Disposable {
  /** Restores the terminal for the shell until the process continues or `resume` is called. */
  suspend(): void;
  resume(): void;
}

/** Events of the process while its terminal is in raw mode. */
interface TerminalEvents {
  /** The process ends; the terminal can still be drawn on. */
  onEnd: () => void;
  /** The process continues after it was stopped. */
  onContinue: () => void;
}

/**
 * Puts a terminal into raw mode. Disposing the result restores it: raw mode off, cursor shown, bracketed paste off, listeners
 * removed. The terminal is also restored when the process exits and on a fatal signal, which then has its usual effect.
 */
export function enterRawMode(
  { input, output }: TerminalStreams,
  { onEnd, onContinue }: TerminalEvents,
): RawTerminal {
  const wasRaw = input.isRaw === true;
  const wasFlowing = input.readableFlowing === true;
  /* The app's own handlers decide whether the process ends; a `once` handler is no longer listed when ours runs. */
  const handled = fatalSignals.filter((signal) => process.listenerCount(signal) > 0);
  const resume = (): void => {
    /* After a stop and continue, the shell's mode is set while Node still believes in raw mode: so off first. */
    emitThrown(input, () => input.setRawMode?.(false));
    emitThrown(input, () => input.setRawMode?.(true));
    emitThrown(output, () => output.write(enableBracketedPaste));
  };
  const suspend = (): void => {
    emitThrown(input, () => input.setRawMode?.(wasRaw));
    if (output.writable) emitThrown(output, () => output.write(disableBracketedPasteAndShowCursor));
  };
  const onSigcont = (): void => {
    resume();
    onContinue();
  };
  const restore = (): void => {
    for (const signal of fatalSignals) process.off(signal, onFatalSignal);
    process.off('exit', onExit).off('SIGCONT', onSigcont);
    suspend();
    if (!wasFlowing) input.pause();
  };
  const onExit = (): void => {
    onEnd();
    restore();
  };
  const onFatalSignal = (signal: NodeJS.Signals): void => {
    onExit();
    const isHandled = handled.some((name) => name === signal) || process.listenerCount(signal) > 0;
    if (!isHandled) process.kill(process.pid, signal);
  };
  for (const signal of fatalSignals) process.on(signal, onFatalSignal);
  process.on('exit', onExit).on('SIGCONT', onSigcont);
  resume();
  return { suspend, resume, [Symbol.dispose]: restore };
}

/** Does work on a stream. An error that it throws becomes the stream's `error` event, as for a write that fails later. */
export function emitThrown(stream: Stream, work: () => unknown): void {
  try {
    work();
  } catch (error) {
    queueMicrotask(() => stream.emit('error', error));
  }
}
