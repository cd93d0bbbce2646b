/** Shows text to a person and reads their input: a terminal, a chat window, a test. */
export interface UserInterface {
  /**
   * Lets the person pick an option. Resolves to the exact text of the option, to the text typed instead, or to `cancelled`.
   * Without this method, the function `getUserChoice` asks with a numbered list.
   */
  getUserChoice?(question: string, options: string[]): Promise<string>;
  /** Prints a line. */
  print(text: string): void | Promise<void>;
  /** Reads a line; resolves to `undefined` when the input has ended. */
  readLine(prompt: string): Promise<string | undefined>;
}
