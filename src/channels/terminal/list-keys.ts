import { oneLine, wrap } from './fit-text.ts';
import type { Canvas, PickList } from './widget.ts';

/* With fewer rows than these, the hint is short, has no blank line after it, or is left out. */
const roomy = 12;
const tight = 8;
const tiny = 5;

/** Whether the key is the list's exit. */
export function isExit(stroke: string, exit: PickList['exit']): boolean {
  if (exit === 'leave') return stroke === 'escape';
  return exit === 'back' && (stroke === 'left' || stroke === 'shift+tab');
}

/**
 * Whether a digit picks its entry at once. Never if one of the entries is a yes, or if numbers may have two digits: the first digit would
 * pick.
 */
export function picksByDigit({ entries, decides }: PickList): boolean {
  return !decides && entries.length <= 9;
}

/** The number before an entry. In a list where one digit picks, the tenth entry has no number. */
export function numberMark(list: PickList, index: number): string {
  if (!list.isNumbered || (picksByDigit(list) && index >= 9)) return '';
  const count = list.entries.length + Number(list.takesText);
  return `${String(index + 1).padStart(picksByDigit(list) ? 1 : String(count).length)}. `;
}

/** What a key does, in full and in short. */
export type KeyHint = [inFull: string, short: string];

/** The hint that names the keys, and a blank line; with few rows it is shorter. */
export function hintLines(
  hints: readonly KeyHint[],
  exit: PickList['exit'],
  { columns, rows, paint, fold }: Canvas,
): string[] {
  if (rows < tiny) return [];
  const all: KeyHint[] = [
    ...hints,
    ...(exit === 'back' ? [['← to go back', '← back'] satisfies KeyHint] : []),
    ...(exit === 'leave' ? [['Esc to decide later', 'Esc later'] satisfies KeyHint] : []),
    ...(fold === 'none' ? [] : [['v to see all', 'v all'] satisfies KeyHint]),
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
