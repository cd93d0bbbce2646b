import type { WriteStream } from 'node:tty';
import { wrapAnsi } from 'fast-wrap-ansi';

/** Wraps a line between words at the width of the terminal; continuations have the same indentation. */
export function wrapLine(line: string, output: WriteStream): string {
  if (!output.isTTY) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  const room = Math.max(1, output.columns - indent.length);
  return wrapAnsi(line.slice(indent.length), room, { hard: true, trim: false })
    .split('\n')
    .map((part, index) => (index === 0 ? part : indent + part.trimStart()).trimEnd())
    .join('\n');
}
