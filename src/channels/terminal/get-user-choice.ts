import { type Dialog, UnansweredError } from './dialog.ts';
import { NumberedDialog } from './numbered-dialog.ts';
import type { UserInterface } from './user-interface.ts';

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
export async function choose(
  dialog: Dialog,
  question: string,
  options: readonly string[],
): Promise<string> {
  dialog.announce();
  await dialog.show((page) => {
    page.text(question, page.paint.question);
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
