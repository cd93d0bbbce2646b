import type { Key } from './keys.ts';
import type { Paint } from './styled-text.ts';

/** The area that a widget may draw on. */
export interface Canvas {
  columns: number;
  rows: number;
  paint: Paint;
  /** Says if part of the request's text is folded, and if the person has read all of it. */
  fold: 'none' | 'unread' | 'read';
}

/** An input on the screen that takes keys until it has an answer. It does not use streams. */
export interface Widget<ANSWER extends object> {
  lines(canvas: Canvas): string[];
  /** Handles a key; returns the answer if there is one now. */
  press(key: Key, canvas: Canvas): ANSWER | undefined;
  /** Takes note of a key that does not count. */
  ignore?(key: Key): void;
  /** The lines that stay on the screen after the answer, or without one; for `undefined` nothing stays, not even the request. */
  closingLines(answer: ANSWER | undefined, canvas: Canvas): string[] | undefined;
  /** All lines, for a screen that can't show them at once. */
  fullLines?(canvas: Canvas): string[];
  /** True if some of the widget's own text was cut when it was last drawn. */
  isCut?: boolean;
  /** True if letters are text now rather than commands. */
  isTyping?: boolean;
}

/** An entry of a list. */
export interface Entry {
  label: string;
  description?: string | undefined;
  /** Shown as preselected; the person must still pick it. */
  isPreselected?: boolean;
  /** The words that pick it in a numbered list. */
  words?: readonly string[];
  /** True if it permits something: it can't be picked until the whole request was read. A line picks it only with the word `approve`. */
  isYes?: boolean;
  /** True if it is a yes to a question, which approves no call: any line that means yes picks it. */
  confirms?: boolean;
  /** True if another question follows before there is an answer. */
  leadsOn?: boolean;
}

/** The one line that approves a call. */
export const approvingWord = 'approve';

/** Entries to pick from, and the other things that the person can do. */
export interface PickList {
  entries: readonly Entry[];
  /** The entry highlighted first. */
  start: number;
  /** True if a last entry leads to a text input. */
  takesText: boolean;
  /** The text typed before the person came back to the list. */
  text?: string | undefined;
  /** `back`: ← returns to the question before. `leave`: Esc continues with the next request. */
  exit: 'back' | 'leave' | 'none';
  /** True if the entries show numbers. */
  isNumbered: boolean;
  /** True if one of the entries is a yes: digits then only move the highlight, and text has no effect. */
  decides: boolean;
  /** True if Enter sends the answer or continues with another question. */
  enter: 'send' | 'continue';
  /** For a list in which entries are ticked: which are at the start, and how many may be. */
  ticks?: Ticks;
}

/** The entries that are ticked at the start, and how few and how many may be sent. */
interface Ticks {
  checked: readonly number[];
  min: number;
  max: number;
}

/** Entries to tick. */
export interface CheckList extends PickList {
  ticks: Ticks;
}

/** The settings of a list in which an entry permits or sends something. */
export const decisionList = {
  takesText: false,
  isNumbered: false,
  decides: true,
  enter: 'send',
} as const;

/** The last entry of a list that takes text. It is recognised by its index, never by its label. */
export const escapeLabel = 'Say something else...';

/** The prompt of the text input behind it. */
export const responsePrompt = 'Enter your response: ';
