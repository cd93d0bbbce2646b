/** The action of a key on the page. */
export type KeyAction =
  | 'next'
  | 'previous'
  | 'open'
  | 'back'
  | 'show-next'
  | 'show-previous'
  | 'unfold'
  | 'approve'
  | 'reject'
  | 'edit'
  | 'mark'
  | 'mark-range'
  | 'search'
  | 'help';

/** The parts of a `KeyboardEvent` that say which key it was. */
export interface KeyPress {
  readonly key: string;
  readonly repeat: boolean;
  readonly isComposing: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  /** Checks whether AltGr is held: some systems send it as Ctrl with Alt, others by itself. */
  getModifierState(modifier: 'AltGraph'): boolean;
}

/** The place of the focus: a text or choice field, a button or link, a row of the list, or elsewhere. */
export type KeyPlace = 'field' | 'control' | 'row' | 'page';

/** A line of the list of keys: the key, and its value for `aria-keyshortcuts`. */
export interface KeyLine {
  action: KeyAction;
  keys: readonly string[];
  shortcut: string;
  does: string;
}

/** All keys, in the order in which they are explained. */
export const keyLines: readonly KeyLine[] = [
  { action: 'next', keys: ['j', '↓'], shortcut: 'j ArrowDown', does: 'Next request' },
  { action: 'previous', keys: ['k', '↑'], shortcut: 'k ArrowUp', does: 'Previous request' },
  { action: 'open', keys: ['Enter'], shortcut: 'Enter', does: 'Open the request' },
  { action: 'back', keys: ['Esc'], shortcut: 'Escape', does: 'One level back; drafts are kept' },
  { action: 'show-next', keys: ['Space'], shortcut: 'Space', does: 'Next screen of the request' },
  {
    action: 'show-previous',
    keys: ['Shift+Space'],
    shortcut: 'Shift+Space',
    does: 'Previous screen of the request',
  },
  { action: 'unfold', keys: ['v'], shortcut: 'v', does: 'Show all that is folded' },
  { action: 'approve', keys: ['a'], shortcut: 'a', does: 'Approve, once all of it was shown' },
  { action: 'reject', keys: ['r'], shortcut: 'r', does: 'Reject; opens the reason' },
  { action: 'edit', keys: ['e'], shortcut: 'e', does: 'Edit' },
  { action: 'mark', keys: ['x'], shortcut: 'x', does: 'Mark the request' },
  {
    action: 'mark-range',
    keys: ['Shift+x'],
    shortcut: 'Shift+X',
    does: 'Mark up to the one marked last',
  },
  { action: 'search', keys: ['/'], shortcut: '/', does: 'Search' },
  { action: 'help', keys: ['?'], shortcut: '?', does: 'List of keys' },
];

const shortcuts = new Map(keyLines.map(({ action, shortcut }) => [action, shortcut]));

/** Finds the `aria-keyshortcuts` of the button that does the same as a key. */
export function findShortcut(action: KeyAction): string | undefined {
  return shortcuts.get(action);
}

const named = new Map<string, KeyAction>([
  ['ArrowDown', 'next'],
  ['ArrowUp', 'previous'],
]);
const letters = new Map<string, KeyAction>([
  ['j', 'next'],
  ['k', 'previous'],
  ['v', 'unfold'],
  ['a', 'approve'],
  ['r', 'reject'],
  ['e', 'edit'],
  ['x', 'mark'],
  ['X', 'mark-range'],
  ['/', 'search'],
  ['?', 'help'],
]);
/* Written with Shift on some keyboards. */
const symbols = new Set(['/', '?']);

/**
 * Returns the action of a key at the place of the focus; `undefined` leaves it to the browser and the field. A field keeps every key except
 * Escape, which leaves it.
 */
export function readKey(
  press: KeyPress,
  place: KeyPlace,
  { areLettersOn }: { areLettersOn: boolean },
): KeyAction | undefined {
  const { key, repeat, isComposing, ctrlKey, metaKey, altKey } = press;
  if (repeat || isComposing || ctrlKey || metaKey || altKey) return undefined;
  if (press.getModifierState('AltGraph')) return undefined;
  if (key === 'Escape') return 'back';
  if (place === 'field') return undefined;
  return findNamed(press, place) ?? (areLettersOn ? findLetter(press) : undefined);
}

function findNamed({ key, shiftKey }: KeyPress, place: KeyPlace): KeyAction | undefined {
  if (key === ' ' && place !== 'control') return shiftKey ? 'show-previous' : 'show-next';
  if (shiftKey) return undefined;
  if (key === 'Enter') return place === 'row' ? 'open' : undefined;
  return named.get(key);
}

/* Caps Lock makes an `x` an `X` without Shift. */
function findLetter({ key, shiftKey }: KeyPress): KeyAction | undefined {
  if (symbols.has(key)) return letters.get(key);
  const letter = key.toLowerCase();
  if (shiftKey) return letter === 'x' ? 'mark-range' : undefined;
  return letters.get(letter);
}
