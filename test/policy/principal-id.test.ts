import { describe, expect, test } from 'vitest';
import { identifyLoosely, identifyStrictly } from '../../src/policy/same-person.ts';
import { pickCases } from '../support/sampling.ts';

const bySubject = (principal: unknown): string => JSON.stringify(principal);

/* Texts that people can't tell apart, or that systems take for the same address. */
const ada = [
  'ada@x',
  'Ada@X',
  ' ada@x',
  'ada@x\u00A0',
  'ada@x\n',
  'a\u200Bda@x',
  'ada\u2800@x',
  'ada\uFE0F@x',
  'ada@x\u{E0061}',
  '\uFF41da@x',
  'ada\uFF20x',
];

describe('who must not count twice', () => {
  test.each(pickCases(ada, 3))('is found loosely: %j', (text) => {
    expect(identifyLoosely(text, undefined)).toBe('ada@x');
    expect(identifyLoosely({ id: text }, undefined)).toBe('ada@x');
    expect(identifyLoosely(0, () => text)).toBe('ada@x');
  });

  test.each([
    ['straße', 'STRASSE'],
    ['\u1E9E', '\u00DF'],
    ['ΟΔΟΣ', 'οδος'],
    ['\u00E9', 'E\u0301'],
  ])('in either case: %s and %s', (one, other) => {
    expect(identifyLoosely(one, undefined)).toBe(identifyLoosely(other, undefined));
  });

  test('is another person with another letter', () => {
    const people = ['ada@x', 'ada@y', 'adа@x', 'ad a@x', 'áda@x', 'ada'];
    const found = people.map((text) => identifyLoosely(text, undefined));
    expect(new Set(found).size).toBe(people.length);
  });

  test('is an object by its id, whatever else it has', () => {
    const [one, other] = [
      { iss: 'a', sub: 1 },
      { iss: 'b', sub: 1 },
    ];
    expect(identifyLoosely(one, undefined)).toBe(identifyLoosely(other, undefined));
    expect(identifyLoosely(one, bySubject)).not.toBe(identifyLoosely(other, bySubject));
  });
});

describe('who gets something that is for one person', () => {
  test.each(pickCases(ada, 3))('is found strictly: %j', (text) => {
    expect(identifyStrictly(text, undefined)).toBe(text);
    expect(identifyStrictly(0, () => text)).toBe(text);
  });

  test.each([[{ id: 'ada' }], [{ iss: 'a', sub: 1 }], [7], [['ada']], [true]])(
    'is nobody without principalId, unless it is a text: %j',
    (principal) => {
      expect(identifyStrictly(principal, undefined)).toBe(undefined);
      expect(identifyStrictly(principal, bySubject)).toBe(bySubject(principal));
    },
  );
});

test.each([undefined, null, '', ' ', '\u200B', '\n\u2060 '])(
  'nobody has no name: %j',
  (principal) => {
    expect(identifyLoosely(principal, undefined)).toBe(undefined);
    expect(identifyStrictly(principal, undefined)).toBe(undefined);
    expect(identifyStrictly(principal ?? '', (text) => String(text))).toBe(undefined);
  },
);
