import { type Dialog, UnansweredError } from './dialog.ts';
import { NumberedDialog, type UserInterface } from './numbered-dialog.ts';
import type { TerminalOptions } from './terminal-streams.ts';
import { withDialog } from './with-dialog.ts';

/** The result when nothing was chosen. An option or a typed text can be the same string; `askInTerminal` distinguishes them. */
const cancelled = 'cancelled';

/**
 * Lets a person pick one of the options or type something else: with the interface's own `getUserChoice` if it has one, else with
 * a numbered list. Resolves to the exact text of the option, to the typed text, or to `cancelled`.
 */
export async function getUserChoice(
  userInterface: UserInterface,
  question: string,
  options: string[],
): Promise<string> {
  if (userInterface.getUserChoice !== undefined)
    return userInterface.getUserChoice(question, options);
  return choose(new NumberedDialog(userInterface), question, options);
}

/** Does the same in an open dialog. */
async function choose(
  dialog: Dialog,
  question: string,
  options: readonly string[],
): Promise<string> {
  dialog.announce();
  await dialog.show((page) => {
    page.text(question, page.paint.strong);
    page.add('');
  });
  const entries = options.map((label) => ({ label }));
  try {
    const picked = await dialog.pick({
      entries,
      start: 0,
      takesText: true,
      exit: 'none',
      isNumbered: false,
      decides: false,
      enter: 'send',
    });
    if (picked === undefined) return cancelled;
    return 'text' in picked ? picked.text : (options[picked.index] ?? cancelled);
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    if (error.reason !== 'lost') await dialog.note('  ✗ Cancelled');
    return cancelled;
  }
}

/**
 * A terminal as a `UserInterface`: a selector with arrow keys, or a numbered list if single keys can't be read.
 */
export function terminalUserInterface(options: TerminalOptions = {}): Required<UserInterface> {
  const { output = process.stdout } = options;
  return {
    async getUserChoice(question, choices) {
      return withDialog(options, (dialog) => choose(dialog, question, choices));
    },
    print(text) {
      output.write(`${text}\n`);
    },
    async readLine(prompt) {
      try {
        const asked = { prompt, canGoBack: false, canBeEmpty: true, enter: 'send' } as const;
        const { text } = await withDialog(options, (dialog) => {
          dialog.announce();
          return dialog.typeText(asked);
        });
        return text;
      } catch (error) {
        if (error instanceof UnansweredError) return undefined;
        throw error;
      }
    },
  };
}
