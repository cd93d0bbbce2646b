import { expect, test } from 'vitest';
import { copyAsLogged } from '../../src/json/tagged-json.ts';

test('a list that says itself how it is written as JSON is copied as it is written', () => {
  const list = Object.assign(['Friday'], { toJSON: () => ['Monday'] });
  expect(copyAsLogged({ list })).toEqual({ list: ['Monday'] });
});

test('an object is copied without what it inherits, as JSON writes it', () => {
  const trip: unknown = Object.assign(Object.create({ by: 'train' }), { to: 'Rome' });
  expect(copyAsLogged({ trip })).toEqual(JSON.parse(JSON.stringify({ trip })));
});
