import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findLostPieces } from './find-piece.ts';
import { sourceMutants } from './source-mutants.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

test('each mutant breaks one piece of the source', () => {
  expect(findLostPieces(source, sourceMutants)).toEqual([]);
});

test('each mutant is about another promise', () => {
  const promises = sourceMutants.map(({ promise }) => promise);
  expect(promises.filter((promise, nth) => promises.indexOf(promise) !== nth)).toEqual([]);
});
