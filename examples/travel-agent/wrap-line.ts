import type { WriteStream } from 'node:tty';
import { wrapTextWithPrefix } from '@clack/core';

/** Wraps a line between words at the width of the terminal; continuations have the same indentation. */
export function wrapLine(line: string, output: WriteStream): string {
  if (!output.isTTY) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  return wrapTextWithPrefix(output, line.slice(indent.length), indent)
    .split('\n')
    .map((part, index) => (index === 0 ? part : indent + part.trimStart()).trimEnd())
    .join('\n');
}
