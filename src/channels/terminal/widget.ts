import type { Key } from './key.ts';
import type { Paint } from './paint.ts';

/** What there is to draw on. */
export interface Canvas {
  columns: number;
  rows: number;
  paint: Paint;
}

/** Something on the screen that takes keys until it has an answer. Knows nothing of streams. */
export interface Widget<ANSWER extends object> {
  lines(canvas: Canvas): string[];
  /** Takes a key; gives the answer, when there is one now. */
  press(key: Key, canvas: Canvas): ANSWER | undefined;
  /** What stays on the screen after the answer. */
  closingLines(answer: ANSWER, canvas: Canvas): string[];
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
  /** The word that picks it where lines are typed. */
  word?: string;
}

/** Entries to pick from, and what else can be done meanwhile. */
export interface PickList {
  entries: readonly Entry[];
  /** The entry highlighted first. */
  start: number;
  /** Whether a last entry leads to text of the person's own. */
  takesText: boolean;
  /** `back`: to what was asked before, with ←. `leave`: to what is asked next, with Esc. */
  exit: 'back' | 'leave' | 'none';
}

/** The last entry of a list that takes text (seed 004). It is known by its place, never by its words. */
export const escapeLabel = 'Say something else...';

/** The prompt of the text behind it (seed 004's origin). */
export const responsePrompt = 'Enter your response: ';
