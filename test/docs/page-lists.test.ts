import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pagesAt } from './markdown-page.ts';

const root = join(import.meta.dirname, '..', '..');

test.each(['docs/index.md', 'docs/llms.txt'])('%s lists every page of the docs', (path) => {
  const [list] = pagesAt(path);
  const listed = list?.links.map(({ target }) => target).filter((target) => target.endsWith('.md'));
  const others = pagesAt('docs/**/*.md').filter((page) => page.path !== 'docs/index.md');
  expect(listed?.toSorted()).toEqual(others.map((page) => page.path).toSorted());
});

test.each(['docs/promises.md', 'docs/channels/gate.md'])(
  'the tests that %s names exist',
  (path) => {
    const [page] = pagesAt(path);
    const named = [...(page?.text ?? '').matchAll(/`(test\/\w+\/[\w-]+)`/g)];
    const missing = named
      .map(([, name = '']) => name)
      .filter((name) =>
        ['.test.ts', '.deep.ts'].every((end) => !existsSync(join(root, name + end))),
      );
    expect(named.length).toBeGreaterThan(15);
    expect(missing).toEqual([]);
  },
);

test('the test files that test/faults/covered.md names exist', () => {
  const text = readFileSync(join(root, 'test/faults/covered.md'), 'utf8');
  const named = [...text.matchAll(/`([\w-]+(?:\/[\w-]+)*\.(?:test|deep)\.ts)`/g)];
  const missing = named
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(root, 'test', path)));
  expect(named.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
});
