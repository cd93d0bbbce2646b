/** Whoever can put words before a person and take theirs: a terminal, a chat window, a test. */
export interface UserInterface {
  /**
   * Lets the person pick. Resolves to the exact text of the option, to what was typed instead, or to `cancelled`.
   * Without it, `getUserChoice` asks by a numbered list.
   */
  getUserChoice?(question: string, options: string[]): Promise<string>;
  /** Shows a line. */
  print(text: string): void | Promise<void>;
  /** Asks for a line; `undefined` when there will be none. */
  readLine(prompt: string): Promise<string | undefined>;
}
