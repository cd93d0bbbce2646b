import { describe, expect, test } from 'vitest';
import {
  findFormat,
  isMasked,
  renderArgumentPath,
} from '../../src/apps/inbox/page/argument-path.ts';
import { compareValues } from '../../src/apps/inbox/page/compare-values.ts';
import { compareInputs, findUsual } from '../../src/apps/inbox/page/differing-fields.ts';

const written = (before: unknown, after: unknown): string[] =>
  compareValues(before, after).map(({ path, ...change }) => {
    const [old, now] = [change.before, change.after].map((item) =>
      item === undefined ? 'absent' : JSON.stringify(item.value),
    );
    return `${renderArgumentPath(path)}: ${old} → ${now}`;
  });

describe('what differs between two inputs', () => {
  test.each<[unknown, unknown, string[]]>([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, []],
    [{ a: 1 }, { a: '1' }, ['a: 1 → "1"']],
    [{ a: null }, {}, ['a: null → absent']],
    [{}, { a: null }, ['a: absent → null']],
    [{ a: 0 }, { a: '' }, ['a: 0 → ""']],
    [{ a: { b: { c: 1, d: 2 } } }, { a: { b: { c: 1, d: 3 } } }, ['a.b.d: 2 → 3']],
    [{ to: ['x', 'y'] }, { to: ['x', 'z', 'y'] }, ['to[1]: absent → "z"']],
    [{ to: ['x', 'y', 'z'] }, { to: ['y', 'z'] }, ['to[0]: "x" → absent']],
    [[{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: 3 }], ['[1].a: 2 → 3']],
    [{ a: [] }, { a: {} }, ['a: [] → {}']],
    ['x', 'y', [': "x" → "y"']],
    [{ 'a.b': 1 }, { 'a.b': 2 }, ['"a.b": 1 → 2']],
    [{ toString: 1 }, {}, ['toString: 1 → absent']],
  ])('from %j to %j: %j', (before, after, changes) => {
    expect(written(before, after)).toEqual(changes);
  });
});

describe('alike calls', () => {
  test('say once what is the same, and where each differs at the innermost place', () => {
    const body = 'x'.repeat(900);
    const { shared, differing } = compareInputs([
      { to: 'a', body: `${body}1`, address: { city: 'Bern', street: 'A' }, n: null },
      { to: 'b', body: `${body}1`, address: { city: 'Bern', street: 'B' }, n: null },
      { to: 'c', body: `${body}2`, address: { city: 'Bern', street: 'A' }, n: null },
    ]);
    expect(shared).toEqual({ value: { address: { city: 'Bern' }, n: null } });
    expect(differing.map(({ path }) => renderArgumentPath(path))).toEqual([
      'to',
      'body',
      'address.street',
    ]);
    expect(findUsual(differing[1]?.cells ?? [])).toEqual({ value: `${body}1` });
    expect(findUsual(differing[0]?.cells ?? [])).toBe(undefined);
  });

  test('tell absent, null, an empty text and 0 apart', () => {
    const { differing } = compareInputs([{ a: null }, { a: '' }, { a: 0 }, {}]);
    expect(differing).toEqual([
      { path: ['a'], cells: [{ value: null }, { value: '' }, { value: 0 }, undefined] },
    ]);
  });

  test('that are all the same differ nowhere', () => {
    expect(compareInputs([{ a: 1 }, { a: 1 }])).toEqual({
      shared: { value: { a: 1 } },
      differing: [],
    });
  });

  test.each<[string, string[], string[], unknown[], { shared: unknown; differing: string[] }]>([
    [
      'currencies that differ',
      ['amount'],
      ['currency'],
      [
        { to: 'a', amount: 5, currency: 'EUR' },
        { to: 'a', amount: 5, currency: 'JPY' },
      ],
      { shared: { to: 'a' }, differing: ['currency', 'amount'] },
    ],
    [
      'one currency',
      ['amount'],
      ['currency'],
      [
        { to: 'a', amount: 5, currency: 'EUR' },
        { to: 'b', amount: 5, currency: 'EUR' },
      ],
      { shared: { amount: 5, currency: 'EUR' }, differing: ['to'] },
    ],
    [
      'currencies that differ elsewhere, in a list',
      ['order', 'items', '*', 'price'],
      ['order', 'in'],
      [
        { order: { in: 'EUR', items: [{ price: 5 }], note: {} }, more: {} },
        { order: { in: 'JPY', items: [{ price: 5 }], note: {} }, more: {} },
      ],
      { shared: { order: { note: {} }, more: {} }, differing: ['order.in', 'order.items'] },
    ],
    [
      'a currency that one has alone, and no amount',
      ['order', 'price'],
      ['currency'],
      [{ order: {}, currency: 'EUR' }, { order: {} }],
      { shared: { order: {} }, differing: ['currency'] },
    ],
  ])('with amounts in %s', (_what, path, currencyPath, inputs, { shared, differing }) => {
    const format = { type: 'money', currency: { path: currencyPath }, unit: 'major' } as const;
    const compared = compareInputs(inputs, [{ path, format }]);
    expect(compared.shared).toEqual({ value: shared });
    const places = compared.differing.map((field) => renderArgumentPath(field.path));
    expect(places.toSorted()).toEqual(differing.toSorted());
  });

  test('of different forms are shown whole', () => {
    const { shared, differing } = compareInputs([{ a: { b: 1 } }, { a: [1] }]);
    expect(shared).toBe(undefined);
    expect(differing).toEqual([{ path: ['a'], cells: [{ value: { b: 1 } }, { value: [1] }] }]);
  });
});

describe('what is declared', () => {
  const money = { type: 'money', currency: 'EUR', unit: 'major' } as const;
  const declared = {
    formats: [
      { path: ['items', '*', 'price'], format: money },
      { path: ['keys', '*'], format: { type: 'secret' as const } },
    ],
    masked: [['token'], ['login', 'password']],
  };

  test('for each item of a list counts for its items, and for no field of that name', () => {
    expect(findFormat(declared, ['items', 3, 'price'])).toEqual({ format: money, indexes: [3] });
    expect(findFormat(declared, ['items', 'a', 'price'])).toBe(undefined);
    expect(findFormat(declared, ['items', 3])).toBe(undefined);
    expect(findFormat(declared, ['price'])).toBe(undefined);
  });

  test.each([
    [['token'], true],
    [['token', 'inner'], true],
    [['login', 'password'], true],
    [['login'], false],
    [['keys', 0], true],
    [['tokens'], false],
  ])('as a secret masks %j, and all that is in it: %s', (path, is) => {
    expect(isMasked(declared, path)).toBe(is);
  });

  test('a name can’t imitate a path', () => {
    expect(renderArgumentPath(['a', 0, 'b'])).toBe('a[0].b');
    expect(renderArgumentPath(['a[0].b'])).toBe('"a[0].b"');
    expect(renderArgumentPath(['a\u202eb'])).toBe('"a\\u{202e}b"');
    expect(renderArgumentPath(['\u0430'])).toBe('"\u0430"');
  });
});
