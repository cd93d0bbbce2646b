import { Departure } from './departure.ts';
import type { Dialog } from './dialog.ts';
import { NumberedDialog } from './numbered-dialog.ts';
import type { UserInterface } from './user-interface.ts';

/** The word for no choice. An option or a typed text may say the same: `askInTerminal` keeps them apart. */
const cancelled = 'cancelled';

/**
 * Lets a person pick one of the options, or say something else: through the interface's own `getUserChoice` where it
 * has one, else by a numbered list. Resolves to the exact text of the option, to what was typed, or to `cancelled`.
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

/** The same in a dialog that is open. */
export async function choose(
  dialog: Dialog,
  question: string,
  options: readonly string[],
): Promise<string> {
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
    if (!(error instanceof Departure)) throw error;
    if (error.how !== 'lost') await dialog.note('  ✗ Cancelled');
    return cancelled;
  }
}
