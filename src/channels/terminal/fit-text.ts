import { wrapAnsi } from 'fast-wrap-ansi';
import { inertLine, inertText } from '../../content/inert-text.ts';
import type { LinePaint } from './paint.ts';

/** Lines of at most so many terminal columns; a wide character takes two. */
export function wrap(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: false }).split('\n');
}

/** Untrusted text made inert, on one line, cut with `…` if it doesn't fit. */
export function fitOneLine(text: string, columns: number): string {
  const start = takeFirstUnits(text, columns * 2);
  const shown = inertLine(start);
  const [line = '', ...more] = wrap(shown, columns);
  if (more.length === 0 && start === text) return line;
  return `${(wrap(shown, columns - 1)[0] ?? '').trimEnd()}…`;
}

/** How lines of untrusted text are marked and styled. */
export interface TextStyle {
  /** Whether the first line has a mark as well. */
  isBlock?: boolean;
  paint?: LinePaint | undefined;
}

/**
 * Untrusted text made inert, line by line. Each of its lines begins with `│`, and each continuation with `┊`; the first line has
 * no mark unless `isBlock` is set or it begins as one of our own lines does. Our own lines never begin with these marks, so
 * that untrusted text can't imitate them.
 */
export function fitTextLines(
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
export function takeFirstUnits(text: string, count: number): string {
  const cut = text.slice(0, Math.max(0, count));
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** The last characters, by UTF-16 units, without half a character at the cut. */
export function takeLastUnits(text: string, count: number): string {
  const cut = text.slice(Math.max(0, text.length - count));
  return cut.length < text.length && /^[\uDC00-\uDFFF]/.test(cut) ? cut.slice(1) : cut;
}
