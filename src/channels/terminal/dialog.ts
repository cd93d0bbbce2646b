import type { Checked, CheckList } from './checklist.ts';
import type { TextPrompt, Typed } from './free-text.ts';
import type { Content } from './page.ts';
import type { PickList } from './widget.ts';

/** What was picked, or typed instead. */
export type Choice = { index: number } | { text: string };

/** What was ticked and typed, or what was ticked before the person went back. */
export type Choices = Exclude<Checked, { type: 'unfold' }>;

/**
 * How somebody is asked: by frames on a screen or by numbered lists. `undefined` is the way out a list has; when
 * nobody answers, each rejects with a `Departure`.
 */
export interface Dialog {
  /** What is asked about from now on. */
  show(content: Content): Promise<void>;
  pick(list: PickList): Promise<Choice | undefined>;
  pickSeveral(list: CheckList): Promise<Choices>;
  typeText(asked: TextPrompt): Promise<Typed>;
  /** Leaves a line that says what came of it. */
  note(line: string): Promise<void>;
}
