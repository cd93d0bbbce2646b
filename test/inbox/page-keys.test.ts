import { expect, test } from 'vitest';
import { KeyGate } from '../../src/apps/inbox/page/key-gate.ts';
import {
  findShortcut,
  type KeyAction,
  keyLines,
  type KeyPlace,
  type KeyPress,
  readKey,
} from '../../src/apps/inbox/page/key-map.ts';

interface Press extends Partial<Omit<KeyPress, 'getModifierState'>> {
  isAltGraph?: boolean;
}

const readPress = (
  { isAltGraph = false, ...press }: Press,
  place: KeyPlace = 'page',
  areLettersOn = true,
): KeyAction | undefined =>
  readKey(
    {
      key: 'a',
      repeat: false,
      isComposing: false,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      shiftKey: false,
      getModifierState: () => isAltGraph,
      ...press,
    },
    place,
    { areLettersOn },
  );

test.each<[key: string, action: KeyAction]>([
  ['j', 'next'],
  ['ArrowDown', 'next'],
  ['k', 'previous'],
  ['ArrowUp', 'previous'],
  ['Escape', 'back'],
  [' ', 'show-next'],
  ['v', 'unfold'],
  ['a', 'approve'],
  ['r', 'reject'],
  ['e', 'edit'],
  ['x', 'mark'],
  ['/', 'search'],
  ['?', 'help'],
])('%s is a key of the page, for: %s', (key, action) => {
  expect(readPress({ key })).toBe(action);
});

test('with Shift, Space goes back a screen and x marks the range; no other letter counts', () => {
  expect(readPress({ key: ' ', shiftKey: true })).toBe('show-previous');
  expect(readPress({ key: 'X', shiftKey: true })).toBe('mark-range');
  expect(readPress({ key: 'A', shiftKey: true })).toBeUndefined();
  expect(readPress({ key: '?', shiftKey: true })).toBe('help');
});

test('Caps Lock changes no key', () => {
  expect(readPress({ key: 'A' })).toBe('approve');
  expect(readPress({ key: 'X' })).toBe('mark');
});

test('in a field every key is text, but Escape, which leaves it', () => {
  const typed = [...'approve all rows'.split(''), '/', '?', 'Enter', 'ArrowDown', ' '];
  expect(typed.map((key) => readPress({ key }, 'field'))).toEqual(typed.map(() => undefined));
  expect(readPress({ key: 'Enter', ctrlKey: true }, 'field')).toBeUndefined();
  expect(readPress({ key: 'Enter', metaKey: true }, 'field')).toBeUndefined();
  expect(readPress({ key: 'Escape' }, 'field')).toBe('back');
});

test.each<[how: string, press: Press]>([
  ['with Ctrl', { ctrlKey: true }],
  ['with Command', { metaKey: true }],
  ['with Alt', { altKey: true }],
  ['with AltGr, as Ctrl and Alt', { ctrlKey: true, altKey: true }],
  ['with AltGr, as such', { isAltGraph: true }],
  ['that repeats', { repeat: true }],
  ['of a text that is being composed', { isComposing: true }],
])('an a %s does not approve', (_how, press) => {
  expect(readPress(press)).toBeUndefined();
});

test('on a button Enter and Space are the button’s, and letters are keys', () => {
  expect(readPress({ key: 'Enter' }, 'control')).toBeUndefined();
  expect(readPress({ key: ' ' }, 'control')).toBeUndefined();
  expect(readPress({ key: 'j' }, 'control')).toBe('next');
});

test('Enter opens a row, and does nothing elsewhere', () => {
  expect(readPress({ key: 'Enter' }, 'row')).toBe('open');
  expect(readPress({ key: 'Enter' }, 'page')).toBeUndefined();
});

test('letters can be switched off; the other keys stay', () => {
  const letters = ['a', 'r', 'e', 'j', 'k', 'v', 'x', '/', '?'];
  expect(letters.map((key) => readPress({ key }, 'page', false))).toEqual(
    letters.map(() => undefined),
  );
  expect(readPress({ key: 'ArrowDown' }, 'page', false)).toBe('next');
  expect(readPress({ key: 'Escape' }, 'page', false)).toBe('back');
});

test('each action is explained once, and has a value for aria-keyshortcuts', () => {
  const actions = keyLines.map(({ action }) => action);
  expect(new Set(actions).size).toBe(actions.length);
  expect(findShortcut('approve')).toBe('a');
  expect(findShortcut('mark-range')).toBe('Shift+X');
});

test('a key counts once, and again only after it was up', () => {
  const gate = new KeyGate();
  expect(gate.press('KeyA', { repeat: false })).toBe(true);
  expect(gate.press('KeyA', { repeat: true })).toBe(false);
  /* Some programs that send keys don't say that they repeat. */
  expect(gate.press('KeyA', { repeat: false })).toBe(false);
  gate.release('KeyA');
  expect(gate.press('KeyA', { repeat: false })).toBe(true);
});

test('one key that is held keeps no other from counting', () => {
  const gate = new KeyGate();
  gate.press('KeyA', { repeat: false });
  expect(gate.press('KeyJ', { repeat: false })).toBe(true);
});

test('a key that was held when the page appeared repeats, and does not count', () => {
  const gate = new KeyGate();
  expect(gate.press('Enter', { repeat: true })).toBe(false);
  expect(gate.press('Enter', { repeat: false })).toBe(false);
  gate.release('Enter');
  expect(gate.press('Enter', { repeat: false })).toBe(true);
});

test('a key whose coming up the page was not told counts again, once the keyboard is back', () => {
  const gate = new KeyGate();
  gate.press('KeyA', { repeat: false });
  gate.reset();
  expect(gate.press('KeyA', { repeat: false })).toBe(true);
  gate.press('KeyC', { repeat: false });
  gate.release('MetaLeft');
  expect(gate.press('KeyC', { repeat: false })).toBe(true);
});
