import { isTiny } from './entry-list.ts';
import { wrap } from './fit-text.ts';
import type { Canvas, PickList } from './widget.ts';

/** Whether the stroke leaves a list, by the way out it has. */
export function isExit(stroke: string, exit: PickList['exit']): boolean {
  if (exit === 'leave') return stroke === 'escape';
  return exit === 'back' && (stroke === 'left' || stroke === 'shift+tab');
}

/** What can be done, and a blank line. */
export function hintLines(
  wishes: readonly string[],
  exit: PickList['exit'],
  canUnfold: boolean,
  canvas: Canvas,
): string[] {
  if (isTiny(canvas)) return [];
  const { columns, paint } = canvas;
  const all = [
    ...wishes,
    ...(exit === 'back' ? ['← to go back'] : []),
    ...(exit === 'leave' ? ['Esc to decide later'] : []),
    ...(canUnfold ? ['v to show everything'] : []),
  ];
  return [
    ...wrap(all.join(', '), columns - 2).map((line) => `  ${paint.hint(line.trimEnd())}`),
    '',
  ];
}
