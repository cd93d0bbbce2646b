import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sourceMutants } from './source-mutants.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

test('each mutant breaks one line of the source', () => {
  const lost = sourceMutants.filter(
    ({ file, from }) => readFileSync(join(source, file), 'utf8').split(from).length !== 2,
  );
  expect(lost.map(({ file, from }) => `${file}: ${from}`)).toEqual([]);
});

test('each mutant is about another promise', () => {
  const promises = sourceMutants.map(({ promise }) => promise);
  expect(promises.filter((promise, nth) => promises.indexOf(promise) !== nth)).toEqual([]);
});
