import { Writable } from 'node:stream';
import { wrapTextWithPrefix } from '@clack/core';
import { inertLine, inertText } from '../../content/inert-text.ts';
import type { LinePaint } from './diff-paint.ts';

/** Lines of at most so many columns as a terminal counts them: wide characters are two. */
export function wrap(text: string, columns: number): string[] {
  const ruler = Object.assign(new Writable(), { columns: Math.max(1, columns) });
  return wrapTextWithPrefix(ruler, text, '').split('\n');
}

/** Somebody's text made inert, on one line, cut with `…` where it doesn't fit. */
export function oneLine(text: string, columns: number): string {
  const start = firstUnits(text, columns * 2);
  const shown = inertLine(start);
  const [line = '', ...more] = wrap(shown, columns);
  if (more.length === 0 && start === text) return line;
  return `${(wrap(shown, columns - 1)[0] ?? '').trimEnd()}…`;
}

/** How lines of somebody's text stand. */
export interface TextStyle {
  /** Whether the first line has a mark, too. */
  isBlock?: boolean;
  paint?: LinePaint | undefined;
}

/**
 * Somebody's text made inert, line by line. A line of theirs begins with `│`, one that only goes on with `┊`; the
 * first has no mark unless `isBlock`, or where it begins as a line of ours does. No line of ours begins so, and none of
 * theirs begins otherwise.
 */
export function textLines(
  text: string,
  columns: number,
  { isBlock = false, paint = () => undefined }: TextStyle = {},
): string[] {
  const lines = inertText(text).split('\n');
  return lines.flatMap((line, row) => {
    const dye = paint(line) ?? ((part: string) => part);
    return wrap(line, columns - 2).map((part, index) => {
      if (index > 0) return `┊ ${dye(part)}`;
      return row > 0 || isBlock || /^[\s❯✓✗…│┊]/u.test(line) ? `│ ${dye(part)}` : part;
    });
  });
}

/** The first characters, by UTF-16 units, without half a character at the cut. */
export function firstUnits(text: string, count: number): string {
  const cut = text.slice(0, Math.max(0, count));
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The last characters, likewise. */
export function lastUnits(text: string, count: number): string {
  const cut = text.slice(Math.max(0, text.length - count));
  return cut.length < text.length && /^[\uDC00-\uDFFF]/.test(cut) ? cut.slice(1) : cut;
}
