import { styleText } from 'node:util';
import type { TerminalOutput } from './terminal-options.ts';

/** What each kind of text looks like, where the terminal has colours and nobody said NO_COLOR. */
export interface Paint {
  question: (text: string) => string;
  hint: (text: string) => string;
  selected: (text: string) => string;
  strong: (text: string) => string;
  faint: (text: string) => string;
  added: (text: string) => string;
  removed: (text: string) => string;
  place: (text: string) => string;
}

/** The colours for one output; `FORCE_COLOR` overrules `NO_COLOR` and an output that is no terminal, as in Node. */
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
    place: style('cyan'),
  };
}
