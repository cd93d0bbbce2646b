import type { TextPrompt, Typed } from './free-text.ts';
import type { Content } from './page.ts';
import type { Picked } from './picker.ts';
import type { CheckList, PickList } from './widget.ts';

/** The entry that was picked, or the text that was typed instead. */
export type Choice = { index: number } | { text: string };

/** The entries that were ticked and the text that was typed, or the entries that were ticked before the person went back. */
export type Choices = Exclude<Picked, { type: 'unfold' }>;

/**
 * Asks a person, with frames on a screen or with numbered lists. `undefined` means that the person took the list's exit.
 * Each method rejects with an `UnansweredError` when there will be no answer.
 */
export interface Dialog {
  /** Announces a new display: typed input counts only after the person had a moment to see it. */
  announce(): void;
  /** Sets the content that the following picks and texts are about. */
  show(content: Content): Promise<void>;
  pick(list: PickList): Promise<Choice | undefined>;
  pickSeveral(list: CheckList): Promise<Choices>;
  typeText(asked: TextPrompt): Promise<Typed>;
  /** Lets the person change a text, in their own editor where there is one and the text is long; `undefined` if they go back. */
  editText(edited: EditedText): Promise<string | undefined>;
  /** Prints a line about the result; it stays on the screen. */
  note(line: string): Promise<void>;
}

/** A text to change, and its name. */
export interface EditedText {
  name: string;
  text: string;
}

/**
 * No answer will come. `interrupted`: Ctrl+C at one question. `ended`: no more input will come (Ctrl+D, end of input). `lost`: the terminal
 * or the process is going away, which is nobody's decision. `unread`: the person left too early to have read it.
 */
export class UnansweredError extends Error {
  readonly reason: 'interrupted' | 'ended' | 'lost' | 'unread';

  constructor(reason: UnansweredError['reason']) {
    super(`The question was not answered: ${reason}.`);
    this.reason = reason;
  }
}
