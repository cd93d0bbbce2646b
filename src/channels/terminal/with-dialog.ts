import { setImmediate } from 'node:timers/promises';
import { inertLine } from '../../content/inert-text.ts';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { UnansweredError, type Dialog } from './dialog.ts';
import { findGuard } from './keys.ts';
import { NumberedDialog } from './numbered-dialog.ts';
import { ScreenDialog } from './screen-dialog.ts';
import {
  isInteractive,
  type TerminalInput,
  type TerminalOptions,
  type TerminalOutput,
  type TerminalStreams,
} from './terminal-streams.ts';
import { Screen } from './screen.ts';

const closed = 'this is no longer asked here';
const tooEarly = '  Just appeared: that line did not count';

/** Asks with frames if the terminal supports them, else with numbered lists, and restores the terminal at the end. */
export async function withDialog<RESULT>(
  options: TerminalOptions & { person?: string | undefined },
  ask: (dialog: Dialog) => Promise<RESULT>,
): Promise<RESULT> {
  const { input = process.stdin, output = process.stdout, signal, person, linear } = options;
  signal?.throwIfAborted();
  const isDrawn = linear !== true && isInteractive({ input, output });
  const askHere = isDrawn ? askOnScreen : askByLines;
  const asking = { input, output, signal, person };
  return queueForInput(asking, async () => askHere(asking, ask));
}

/* The end of the latest use of each input. */
const uses = new WeakMap<TerminalInput, Promise<unknown>>();

/* One at a time for each input: two dialogs would both take the same key, but only one was on the screen. */
async function queueForInput<RESULT>(
  { input, signal }: { input: TerminalInput; signal: AbortSignal | undefined },
  ask: () => Promise<RESULT>,
): Promise<RESULT> {
  const before = uses.get(input);
  const use = Promise.withResolvers<void>();
  const all = Promise.all([before, use.promise]);
  uses.set(input, all);
  try {
    if (before !== undefined) await awaitUntilAborted(before, signal);
    return await ask();
  } finally {
    use.resolve();
    if (uses.get(input) === all) uses.delete(input);
  }
}

type Ask<RESULT> = (dialog: Dialog) => Promise<RESULT>;

/** The terminal and the person to ask, and the signal that closes the question. */
interface Asking extends TerminalStreams {
  signal: AbortSignal | undefined;
  person: string | undefined;
}

type LineAsking = Asking & { signal: AbortSignal };

async function askOnScreen<RESULT>(
  { signal, person, ...streams }: Asking,
  ask: Ask<RESULT>,
): Promise<RESULT> {
  const screen = new Screen(streams, signal);
  try {
    return await askOrClose(new ScreenDialog(screen, person), signal, ask);
  } finally {
    await screen.close();
  }
}

/* The message of the platform's own error tells a person nothing. */
function describeClosing(reason: unknown): string {
  const isOwn = reason instanceof Error && !(reason instanceof DOMException);
  const why = isOwn && reason.message !== '' ? inertLine(reason.message) : closed;
  return `  ✗ Closed: ${why}`;
}

/* A question that was answered elsewhere must not seem to be open here. */
async function askOrClose<RESULT>(
  dialog: Dialog,
  signal: AbortSignal | undefined,
  ask: Ask<RESULT>,
): Promise<RESULT> {
  try {
    return await ask(dialog);
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason)
      await dialog.note(describeClosing(error));
    throw error;
  }
}

/* A question that could not be printed was not read: buffered input must not answer it. */
async function askByLines<RESULT>(asking: Asking, ask: Ask<RESULT>): Promise<RESULT> {
  const { output, signal } = asking;
  const lost = new AbortController();
  const lose = (): void => lost.abort(new UnansweredError('lost'));
  output.on('close', lose).on('error', lose);
  if (!output.writable) lose();
  try {
    const ends = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
    return await askOrClose(makeLineDialog({ ...asking, signal: ends }), signal, ask);
  } finally {
    await setImmediate();
    output.off('close', lose).off('error', lose);
  }
}

/* Resolves once the text, and with it all that was written before, has left the process: nobody can answer a text they could not see. */
async function writeOut(output: TerminalOutput, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  output.write(text, (error) => {
    if (error) reject(new UnansweredError('lost'));
    else resolve();
  });
  return promise;
}

function makeLineDialog({ input, output, signal: ends, person }: LineAsking): Dialog {
  const guard = findGuard(input);
  const isTerminal = input.isTTY === true;
  const print = (text: string): void => void output.write(`${text}\n`);
  const readAnswer = async (prompt: string): Promise<string | undefined> => {
    /* At a terminal, lines typed before the question don't answer it; the lines of a pipe do. */
    if (isTerminal) await discardTyped(input);
    const { announced } = guard;
    await awaitUntilAborted(writeOut(output, prompt), ends);
    guard.startDeadTime(announced);
    const line = await readLine(input, ends).catch((error: unknown) => {
      /* Ends the line of the prompt. */
      if (!(error instanceof UnansweredError)) print('');
      throw error;
    });
    /* A terminal echoes what is typed; a pipe does not. */
    if (!isTerminal || line === undefined) print(inertLine(line ?? ''));
    if (!isTerminal || !guard.isEarly) return line;
    if (line === undefined) throw new UnansweredError('unread');
    print(tooEarly);
    guard.announce();
    return readAnswer(prompt);
  };
  return new NumberedDialog({ print, readLine: readAnswer }, { output, guard, person });
}

/**
 * Reads the next line of a stream; `undefined` at its end. What arrived after the line is put back for the next reader. Rejects
 * with an `UnansweredError` when the stream is lost, and with the signal's reason when that aborts.
 */
async function readLine(input: TerminalInput, signal?: AbortSignal): Promise<string | undefined> {
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
async function discardTyped(input: TerminalInput): Promise<void> {
  const wasFlowing = input.readableFlowing === true;
  input.resume();
  await setImmediate();
  await setImmediate();
  if (!wasFlowing) input.pause();
}

function decodeLine(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('utf8').replace(/\r$/, '');
}
