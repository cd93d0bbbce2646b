import { setImmediate } from 'node:timers/promises';
import { inertLine } from '../../content/inert-text.ts';
import { Departure } from './departure.ts';
import type { Dialog } from './dialog.ts';
import { inTurn } from './in-turn.ts';
import { forgetTyped, readLine } from './line-reader.ts';
import { NumberedDialog } from './numbered-dialog.ts';
import { Screen } from './screen.ts';
import { ScreenDialog } from './screen-dialog.ts';
import { isInteractive, type TerminalOptions, type TerminalStreams } from './terminal-options.ts';

const closed = '  ✗ Closed: this is no longer asked here';

/** Asks with frames where the terminal can, else with numbered lists, and gives the terminal back at the end. */
export async function withDialog<RESULT>(
  options: TerminalOptions,
  ask: (dialog: Dialog) => Promise<RESULT>,
): Promise<RESULT> {
  const { input = process.stdin, output = process.stdout, signal } = options;
  signal?.throwIfAborted();
  const askHere = isInteractive({ input, output }) ? onScreen : byLines;
  return inTurn({ input, signal }, async () => askHere({ input, output }, signal, ask));
}

type Ask<RESULT> = (dialog: Dialog) => Promise<RESULT>;

async function onScreen<RESULT>(
  streams: TerminalStreams,
  signal: AbortSignal | undefined,
  ask: Ask<RESULT>,
): Promise<RESULT> {
  const screen = new Screen(streams, signal);
  try {
    return await askOrClose(new ScreenDialog(screen), signal, ask);
  } finally {
    await screen.close();
  }
}

/* A question that was answered elsewhere must not look as if it could still be answered here. */
async function askOrClose<RESULT>(
  dialog: Dialog,
  signal: AbortSignal | undefined,
  ask: Ask<RESULT>,
): Promise<RESULT> {
  try {
    return await ask(dialog);
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) await dialog.note(closed);
    throw error;
  }
}

/* What nobody could read is answered by nobody, whatever stands in the input. */
async function byLines<RESULT>(
  { input, output }: TerminalStreams,
  signal: AbortSignal | undefined,
  ask: Ask<RESULT>,
): Promise<RESULT> {
  const lost = new AbortController();
  const lose = (): void => lost.abort(new Departure('lost'));
  output.on('close', lose).on('error', lose);
  if (!output.writable) lose();
  try {
    const ends = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
    return await askOrClose(lineDialog({ input, output }, ends), signal, ask);
  } finally {
    await setImmediate();
    output.off('close', lose).off('error', lose);
  }
}

function lineDialog({ input, output }: TerminalStreams, ends: AbortSignal): Dialog {
  const print = (text: string): void => void output.write(`${text}\n`);
  return new NumberedDialog(
    {
      print,
      async readLine(prompt) {
        /* A person answers what they have read; what stands in a pipe is for all that is asked. */
        if (input.isTTY === true) await forgetTyped(input);
        output.write(prompt);
        /* A write fails only after this turn. */
        await setImmediate();
        const line = await readLine(input, ends).catch((error: unknown) => {
          /* The prompt is an open line. */
          if (!(error instanceof Departure)) print('');
          throw error;
        });
        /* A terminal shows what is typed; a pipe does not. */
        if (input.isTTY !== true || line === undefined) print(inertLine(line ?? ''));
        return line;
      },
    },
    output,
  );
}
