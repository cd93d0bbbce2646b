import { oneLine, wrap } from './fit-text.ts';
import type { Canvas, PickList } from './widget.ts';

/* Below these, the hint is short, has no blank line after it, or goes. */
const roomy = 12;
const tight = 8;
const tiny = 5;

/** Whether the stroke leaves a list, by the way out it has. */
export function isExit(stroke: string, exit: PickList['exit']): boolean {
  if (exit === 'leave') return stroke === 'escape';
  return exit === 'back' && (stroke === 'left' || stroke === 'shift+tab');
}

/** What a key does, and the same in few letters. */
export type Wish = [inFull: string, short: string];

/** What can be done, and a blank line; as few rows of it as a low screen wants. */
export function hintLines(
  wishes: readonly Wish[],
  exit: PickList['exit'],
  { columns, rows, paint, fold }: Canvas,
): string[] {
  if (rows < tiny) return [];
  const all: Wish[] = [
    ...wishes,
    ...(exit === 'back' ? [['← to go back', '← back'] satisfies Wish] : []),
    ...(exit === 'leave' ? [['Esc to decide later', 'Esc later'] satisfies Wish] : []),
    ...(fold === 'none' ? [] : [['v to see all', 'v all'] satisfies Wish]),
  ];
  const lines = wrap(all.map(([inFull]) => inFull).join(', '), columns - 2);
  const short = [oneLine(all.map(([, few]) => few).join(', '), columns - 2)];
  return [
    ...(lines.length > 1 && rows < roomy ? short : lines).map(
      (line) => `  ${paint.hint(line.trim())}`,
    ),
    ...(rows < tight ? [] : ['']),
  ];
}
