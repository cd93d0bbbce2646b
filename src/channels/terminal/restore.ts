import { attemptOn } from './attempt-on.ts';
import type { TerminalStreams } from './terminal-options.ts';

const pastesAreMarked = '\u001B[?2004h';
const asBefore = '\u001B[?2004l\u001B[?25h';
const deadly = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A terminal that was taken for single keys, until disposed. */
export interface TakenTerminal extends Disposable {
  /** Gives it to the shell for a while; it is taken again when the process is continued, or by `take`. */
  lend(): void;
  take(): void;
}

/** What happens to a process that has a terminal. */
export interface TerminalEvents {
  /** It ends; the terminal can still be drawn on. */
  onEnd: () => void;
  /** It was stopped, and goes on. */
  onContinue: () => void;
}

/**
 * Takes a terminal for single keys, until disposed: raw mode off, cursor shown, pastes unmarked, no listener left. It
 * is given back as well when the process exits, and at a signal, which does then what it would have done.
 */
export function takeTerminal(
  { input, output }: TerminalStreams,
  { onEnd, onContinue }: TerminalEvents,
): TakenTerminal {
  const wasRaw = input.isRaw === true;
  const wasFlowing = input.readableFlowing === true;
  /* An app that listens lives on, also when it listened only once and is gone from the list by then. */
  const heard = deadly.filter((signal) => process.listenerCount(signal) > 0);
  const take = (): void => {
    /* Stopped and continued, the terminal is another's mode while Node believes it is raw. */
    attemptOn(input, () => input.setRawMode?.(false));
    attemptOn(input, () => input.setRawMode?.(true));
    attemptOn(output, () => output.write(pastesAreMarked));
  };
  const lend = (): void => {
    attemptOn(input, () => input.setRawMode?.(wasRaw));
    if (output.writable) attemptOn(output, () => output.write(asBefore));
  };
  const continued = (): void => {
    take();
    onContinue();
  };
  const restore = (): void => {
    for (const signal of deadly) process.off(signal, onDeath);
    process.off('exit', onExit).off('SIGCONT', continued);
    lend();
    if (!wasFlowing) input.pause();
  };
  const onExit = (): void => {
    onEnd();
    restore();
  };
  const onDeath = (signal: NodeJS.Signals): void => {
    onExit();
    const isHeard = heard.some((name) => name === signal) || process.listenerCount(signal) > 0;
    if (!isHeard) process.kill(process.pid, signal);
  };
  for (const signal of deadly) process.on(signal, onDeath);
  process.on('exit', onExit).on('SIGCONT', continued);
  take();
  return { lend, take, [Symbol.dispose]: restore };
}
