import { styleText } from 'node:util';
import type { TerminalOutput } from './terminal-options.ts';

/** Styles each kind of text; plain if the terminal has no colours or `NO_COLOR` is set. */
export interface Paint {
  question: (text: string) => string;
  hint: (text: string) => string;
  selected: (text: string) => string;
  strong: (text: string) => string;
  faint: (text: string) => string;
  added: (text: string) => string;
  removed: (text: string) => string;
  hunkHeader: (text: string) => string;
  warning: (text: string) => string;
}

/** The styles for one output. As in Node, `FORCE_COLOR` has precedence over `NO_COLOR` and applies to any output. */
export function paintFor(stream: TerminalOutput | undefined): Paint {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  const isPlain = FORCE_COLOR === undefined && (stream?.isTTY !== true || Boolean(NO_COLOR));
  const style =
    (...format: Parameters<typeof styleText>[0] & readonly string[]) =>
    (text: string): string =>
      isPlain ? text : styleText(format, text, { validateStream: stream !== undefined, stream });
  return {
    question: style('bold', 'cyan'),
    hint: style('italic', 'gray'),
    selected: style('bold', 'inverse'),
    strong: style('bold'),
    faint: style('dim'),
    added: style('green'),
    removed: style('red'),
    hunkHeader: style('cyan'),
    warning: style('yellow'),
  };
}

/** Chooses the paint of a line. */
export type LinePaint = (line: string) => ((text: string) => string) | undefined;

/** The styles for the lines of a text if it is a diff, else `undefined`. */
export function findDiffPaint(text: string, paint: Paint): LinePaint | undefined {
  if (!/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text)) return undefined;
  return (line) => {
    if (line.startsWith('+')) return paint.added;
    if (line.startsWith('-')) return paint.removed;
    return line.startsWith('@@') ? paint.hunkHeader : undefined;
  };
}
