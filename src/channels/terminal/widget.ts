import type { Key } from './key.ts';
import type { Paint } from './paint.ts';

/** What there is to draw on. */
export interface Canvas {
  columns: number;
  rows: number;
  paint: Paint;
  /** Whether something of what is asked about is folded, and then whether a person has been through it. */
  fold: 'none' | 'unread' | 'read';
}

/** Something on the screen that takes keys until it has an answer. Knows nothing of streams. */
export interface Widget<ANSWER extends object> {
  lines(canvas: Canvas): string[];
  /** Takes a key; gives the answer, when there is one now. */
  press(key: Key, canvas: Canvas): ANSWER | undefined;
  /** What stays on the screen after the answer, or when nobody answered; `undefined` leaves nothing at all. */
  closingLines(answer: ANSWER | undefined, canvas: Canvas): string[] | undefined;
  /** Every line of what it offers, for a screen that can't show it whole. */
  fullLines?(canvas: Canvas): string[];
  /** Whether something of its own was cut when it was last drawn. */
  isCut?: boolean;
  /** Whether letters are text now, and no keys. */
  isTyping?: boolean;
}

/** The strokes in a key: a named one, or each character that was typed. A paste is none. */
export function strokesOf(key: Key): Iterable<string> {
  if (key.type === 'stroke') return [key.name];
  return key.type === 'text' ? key.text : [];
}

/** What can be picked. */
export interface Entry {
  label: string;
  description?: string | undefined;
  /** Shown as proposed; that is no answer. */
  isPreselected?: boolean;
  /** The words that pick it where lines are typed. */
  words?: readonly string[];
  /** Whether it lets something happen: it can't be picked before everything was read. */
  isYes?: boolean;
  /** Whether another question follows before it is an answer. */
  leadsOn?: boolean;
}

/** Entries to pick from, and what else can be done meanwhile. */
export interface PickList {
  entries: readonly Entry[];
  /** The entry highlighted first. */
  start: number;
  /** Whether a last entry leads to text of the person's own. */
  takesText: boolean;
  /** The text typed before the person came back to the list. */
  text?: string | undefined;
  /** `back`: to what was asked before, with ←. `leave`: to what is asked next, with Esc. */
  exit: 'back' | 'leave' | 'none';
  /** Whether numbers stand before the entries. */
  isNumbered: boolean;
  /** Whether a yes is among the entries: digits only move the highlight then, and a line of text answers nothing. */
  decides: boolean;
  /** Whether the answer goes off with Enter, or another question comes first. */
  enter: 'send' | 'continue';
}

/** The last entry of a list that takes text. It is known by its place, never by its words. */
export const escapeLabel = 'Say something else...';

/** The prompt of the text behind it. */
export const responsePrompt = 'Enter your response: ';
