import type { PickList } from './widget.ts';

/**
 * Whether a digit picks its entry. Never where a yes is among the entries, nor where a number may have two digits, of
 * which the first would pick.
 */
export function picksByDigit({ entries, decides }: PickList): boolean {
  return !decides && entries.length <= 9;
}

/** The number before an entry. A tenth entry of a list where one digit picks has none. */
export function numberMark(list: PickList, index: number): string {
  if (!list.isNumbered || (picksByDigit(list) && index >= 9)) return '';
  const count = list.entries.length + Number(list.takesText);
  return `${String(index + 1).padStart(picksByDigit(list) ? 1 : String(count).length)}. `;
}
