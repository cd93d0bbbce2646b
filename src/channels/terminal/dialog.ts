import type { CheckList } from './checklist.ts';
import type { TextPrompt } from './free-text.ts';
import type { Content } from './page.ts';
import type { PickList } from './widget.ts';

/** What was picked, or typed instead. */
export type Choice = { index: number } | { text: string };

/** What was picked of several, and typed beside it. */
export interface Choices {
  indexes: number[];
  text?: string;
}

/**
 * How somebody is asked: by frames on a screen or by numbered lists. `undefined` is the way out a list has; when
 * nobody answers, each rejects with a `Departure`.
 */
export interface Dialog {
  /** Shows what the next question is about. */
  show(content: Content): Promise<void>;
  pick(list: PickList): Promise<Choice | undefined>;
  pickSeveral(list: CheckList): Promise<Choices | undefined>;
  typeText(asked: TextPrompt): Promise<string | undefined>;
}
