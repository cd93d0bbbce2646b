import { styleText } from 'node:util';
import { wrapAnsi } from 'fast-wrap-ansi';
import { inertLine, inertText } from '../../content/inert-text.ts';
import type { TerminalOutput } from './terminal-streams.ts';

/** Lines of at most so many terminal columns; a wide character takes two. */
export function wrap(text: string, columns: number): string[] {
  if (columns === Infinity) return text.split('\n');
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

/** The marks and styles for lines of untrusted text. */
interface TextStyle {
  /** True if the first line has a mark as well. */
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

/** Styles each kind of text; plain if the output is no terminal or `NO_COLOR` is set. */
export interface Paint {
  hint: (text: string) => string;
  selected: (text: string) => string;
  strong: (text: string) => string;
}

const keep = (text: string): string => text;

/** The styles of text that is printed without any. */
export const unstyled: Paint = { hint: keep, selected: keep, strong: keep };

/** The styles for one output. As in Node, `FORCE_COLOR` has precedence over `NO_COLOR` and applies to any output. */
export function paintFor(stream: TerminalOutput | undefined): Paint {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  const isPlain = FORCE_COLOR === undefined && (stream?.isTTY !== true || Boolean(NO_COLOR));
  const style =
    (...format: Parameters<typeof styleText>[0] & readonly string[]) =>
    (text: string): string =>
      isPlain ? text : styleText(format, text, { validateStream: stream !== undefined, stream });
  /* No colour and no dim: on some themes each of them is hard to see. */
  return {
    hint: style('italic'),
    selected: style('bold', 'inverse'),
    strong: style('bold'),
  };
}

/** Chooses the paint of a line. */
type LinePaint = (line: string) => ((text: string) => string) | undefined;

/** The styles for the lines of a text if it is a diff, else `undefined`. Signs, not colours, mark added and removed lines. */
export function findDiffPaint(text: string, paint: Paint): LinePaint | undefined {
  if (!/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text)) return undefined;
  return (line) => {
    if (/^[+-]/.test(line)) return paint.strong;
    return line.startsWith('@@') ? paint.hint : undefined;
  };
}
