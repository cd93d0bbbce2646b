import { UnansweredError } from './dialog.ts';
import { choose } from './get-user-choice.ts';
import type { TerminalOptions } from './terminal-options.ts';
import type { UserInterface } from './user-interface.ts';
import { withDialog } from './with-dialog.ts';

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
