import { setImmediate } from 'node:timers/promises';
import { Departure } from './departure.ts';
import type { TerminalInput } from './terminal-options.ts';

/**
 * The next line of a stream that is no terminal, or `undefined` at its end. What came after the line is put back, for
 * whoever reads next.
 */
export async function readLine(
  input: TerminalInput,
  signal?: AbortSignal,
): Promise<string | undefined> {
  signal?.throwIfAborted();
  if (input.readableEnded) return undefined;
  if (input.destroyed) throw new Departure('lost');
  const wasFlowing = input.readableFlowing === true;
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const pieces: Buffer[] = [];
  const ended = (): void => resolve(pieces.length === 0 ? undefined : textOf(pieces));
  const lost = (): void => reject(new Departure('lost'));
  const onData = (chunk: Buffer | string): void => {
    const end = chunk.indexOf('\n');
    pieces.push(Buffer.from(end === -1 ? chunk : chunk.slice(0, end)));
    if (end === -1) return;
    input.off('data', onData);
    input.pause();
    if (end + 1 < chunk.length) input.unshift(chunk.slice(end + 1));
    resolve(textOf(pieces));
  };
  const aborted = (): void => reject(signal?.reason);
  input.on('data', onData).on('end', ended).on('close', lost).on('error', lost);
  signal?.addEventListener('abort', aborted);
  input.resume();
  try {
    return await promise;
  } finally {
    input.off('data', onData).off('end', ended).off('close', lost).off('error', lost);
    signal?.removeEventListener('abort', aborted);
    /* Paused in its own event, a pipe reads on unseen, and keeps the process alive: it is paused anew, after a start. */
    if (!wasFlowing) input.resume().pause();
  }
}

/** Drops what was typed at a terminal until now: two turns take in all that had come. */
export async function forgetTyped(input: TerminalInput): Promise<void> {
  const wasFlowing = input.readableFlowing === true;
  input.resume();
  await setImmediate();
  await setImmediate();
  if (!wasFlowing) input.pause();
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8').replace(/\r$/, '');
}
