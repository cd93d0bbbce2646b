import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const docs = globSync('docs/**/*.md', { cwd: root }).toSorted();

/** The text of a page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```/gms, '');
}

/** The relative links of a page, from the root of the repository: the path, and the heading if it names one. */
function linksOf(page: string): { path: string; anchor: string | undefined }[] {
  return [...proseOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
    ([, path = '', anchor]) => ({
      path: path === '' ? page : normalize(join(dirname(page), path)),
      anchor,
    }),
  );
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each(['docs/index.md', 'docs/llms.txt'])('%s lists every page', (list) => {
  const listed = linksOf(list).map(({ path }) => path);
  const pages = docs.filter((page) => page !== 'docs/index.md');
  expect(listed.filter((path) => path.endsWith('.md')).toSorted()).toEqual(pages);
});

test('the links of README and the docs lead to a file, and to a heading', () => {
  const broken = ['README.md', ...docs].flatMap((page) =>
    linksOf(page)
      .filter(({ path, anchor }) => {
        if (!existsSync(join(root, path))) return true;
        return anchor !== undefined && !anchorsOf(path).has(anchor);
      })
      .map(({ path, anchor }) => `${page}: ${path}#${anchor ?? ''}`),
  );
  expect(broken).toEqual([]);
});

test('the docs link to nothing that the package does not contain', () => {
  const outside = docs.flatMap((page) =>
    linksOf(page)
      .filter(({ path }) => !/^(?:docs|src)\/|^(?:README|CHANGELOG)\.md$/.test(path))
      .map(({ path }) => `${page}: ${path}`),
  );
  expect(outside).toEqual([]);
});

test('the tests that docs/promises.md names exist', () => {
  const named = [...proseOf('docs/promises.md').matchAll(/`(test\/[\w./-]+)`/g)];
  const missing = named
    .map(([, path = '']) => path)
    .filter((path) => !existsSync(join(root, path)));
  expect(named.length).toBeGreaterThan(15);
  expect(missing).toEqual([]);
});
