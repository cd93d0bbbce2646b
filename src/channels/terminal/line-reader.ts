import { setImmediate } from 'node:timers/promises';
import { UnansweredError } from './dialog.ts';
import type { TerminalInput } from './terminal-options.ts';

/**
 * Reads the next line of a stream; `undefined` at its end. What arrived after the line is put back for the next reader. Rejects
 * with an `UnansweredError` when the stream is lost, and with the signal's reason when that aborts.
 */
export async function readLine(
  input: TerminalInput,
  signal?: AbortSignal,
): Promise<string | undefined> {
  signal?.throwIfAborted();
  if (input.readableEnded) return undefined;
  if (input.destroyed) throw new UnansweredError('lost');
  const wasFlowing = input.readableFlowing === true;
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const pieces: Buffer[] = [];
  const ended = (): void => resolve(pieces.length === 0 ? undefined : decodeLine(pieces));
  const lost = (): void => reject(new UnansweredError('lost'));
  const onData = (chunk: Buffer | string): void => {
    const end = chunk.indexOf('\n');
    pieces.push(Buffer.from(end === -1 ? chunk : chunk.slice(0, end)));
    if (end === -1) return;
    input.off('data', onData);
    input.pause();
    if (end + 1 < chunk.length) input.unshift(chunk.slice(end + 1));
    resolve(decodeLine(pieces));
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
    /* A pipe that is paused in its own `data` event continues to read and keeps the process alive: resume, then pause again. */
    if (!wasFlowing) input.resume().pause();
  }
}

/** Discards what was typed at a terminal so far: buffered input arrives within two turns of the event loop. */
export async function discardTyped(input: TerminalInput): Promise<void> {
  const wasFlowing = input.readableFlowing === true;
  input.resume();
  await setImmediate();
  await setImmediate();
  if (!wasFlowing) input.pause();
}

function decodeLine(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8').replace(/\r$/, '');
}
