import type { WriteStream } from 'node:tty';
import { wrapTextWithPrefix } from '@clack/core';

/** A line, broken between words where a terminal is narrower; what continues it is indented as it is. */
export function wrapped(line: string, output: WriteStream): string {
  if (!output.isTTY) return line;
  const indent = /^ */.exec(line)?.[0] ?? '';
  return wrapTextWithPrefix(output, line.slice(indent.length), indent)
    .split('\n')
    .map((part, index) => (index === 0 ? part : indent + part.trimStart()).trimEnd())
    .join('\n');
}
