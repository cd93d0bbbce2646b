import { inertText } from '../../content/inert-text.ts';
import type { Dialog } from './dialog.ts';
import { readLine } from './line-reader.ts';
import { NumberedDialog } from './numbered-dialog.ts';
import { Screen } from './screen.ts';
import { ScreenDialog } from './screen-dialog.ts';
import { isInteractive, type TerminalOptions } from './terminal-options.ts';

/** Asks with frames where the terminal can, else with numbered lists, and gives the terminal back at the end. */
export async function withDialog<RESULT>(
  options: TerminalOptions,
  ask: (dialog: Dialog) => Promise<RESULT>,
): Promise<RESULT> {
  const { input = process.stdin, output = process.stdout, signal } = options;
  signal?.throwIfAborted();
  if (!isInteractive({ input, output })) return ask(lineDialog({ input, output, signal }));
  const screen = new Screen({ input, output }, signal);
  try {
    return await ask(new ScreenDialog(screen, output));
  } finally {
    await screen.close();
  }
}

type Lines = Required<Pick<TerminalOptions, 'input' | 'output'>> & {
  signal: AbortSignal | undefined;
};

function lineDialog({ input, output, signal }: Lines): Dialog {
  const print = (text: string): void => void output.write(`${text}\n`);
  return new NumberedDialog(
    {
      print,
      async readLine(prompt) {
        output.write(prompt);
        const line = await readLine(input, signal);
        /* A terminal shows what is typed; a pipe does not. */
        if (input.isTTY !== true || line === undefined) print(inertText(line ?? ''));
        return line;
      },
    },
    output,
  );
}
