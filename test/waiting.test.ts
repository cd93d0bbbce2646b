import { expect, test } from 'vitest';
import { mapTogether } from '../src/content/waiting.ts';

test('work for several items is begun for all of them, even if one throws at once, and rejects as that one does', async () => {
  const begun: number[] = [];
  const fault = new Error('thrown at once');
  const work = async () =>
    mapTogether([1, 2, 3], (item): number | Promise<number> => {
      begun.push(item);
      if (item === 2) throw fault;
      return item === 1 ? Promise.resolve(item) : item;
    });
  await expect(work()).rejects.toBe(fault);
  expect(begun).toEqual([1, 2, 3]);
});

test('work for several items has its results in order, at once if nothing waits', async () => {
  expect(mapTogether([1, 2], (item, index) => item * index)).toEqual([0, 2]);
  const mixed = mapTogether([1, 2], (item) => (item === 1 ? Promise.resolve(item) : item));
  expect(mixed).toBeInstanceOf(Promise);
  expect(await mixed).toEqual([1, 2]);
});
