import type { Paint } from './paint.ts';

/** Chooses the paint of a line. */
export type LinePaint = (line: string) => ((text: string) => string) | undefined;

/** How the lines of a text look: those of a diff by what they add and take away, others as they are. */
export function diffPaint(text: string, paint: Paint): LinePaint | undefined {
  if (!/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m.test(text)) return undefined;
  return (line) => {
    if (line.startsWith('+')) return paint.added;
    if (line.startsWith('-')) return paint.removed;
    return line.startsWith('@@') ? paint.place : undefined;
  };
}
