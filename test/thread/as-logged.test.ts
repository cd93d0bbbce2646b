import { expect, test } from 'vitest';
import { copyAsLogged } from '../../src/thread/tagged-json.ts';

test('a list that says itself how it is written as JSON is copied as it is written', () => {
  const list = Object.assign(['Friday'], { toJSON: () => ['Monday'] });
  expect(copyAsLogged({ list })).toEqual({ list: ['Monday'] });
});
