import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** The files of the package, as `npm pack` takes them. */
function packedFiles(): string[] {
  const parameters = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const packed: { files: { path: string }[] }[] = JSON.parse(
    execFileSync('npm', parameters, { cwd: root, encoding: 'utf8' }),
  );
  return packed.flatMap(({ files }) => files.map(({ path }) => path));
}

/** The files that a page links to, without those of other sites. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/```.*?```/gs, '');
  const links = text.matchAll(/\]\((?<link>[^)\s#]+)|(?:src|href|srcset)="(?<source>[^"#]+)/g);
  return [...links]
    .map(({ groups }) => groups?.['link'] ?? groups?.['source'] ?? '')
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => posix.join(posix.dirname(page), link));
}

test('the pages of the package link to files of the package', () => {
  const files = packedFiles();
  const pages = files.filter((file) => /^(docs\/.*|[^/]*)\.(md|txt)$/.test(file));
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !files.includes(link))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md']));
});
