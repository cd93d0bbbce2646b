import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type MarkdownPage, pagesAt } from './markdown-page.ts';

const root = join(import.meta.dirname, '..', '..');
const shipped = pagesAt('README.md', 'CHANGELOG.md', 'docs/**/*.md');
const pages = [...shipped, ...pagesAt('CONTRIBUTING.md', 'SECURITY.md', '.github/**/*.md')];

/** The links of a page, as a failure shows them. */
function linksOf(
  page: MarkdownPage,
): { link: string; target: string; anchor: string | undefined }[] {
  return page.links.map(({ target, anchor }) => {
    const link = `${page.path} -> ${target}${anchor === undefined ? '' : `#${anchor}`}`;
    return { link, target, anchor };
  });
}

test('README has at most 150 lines', () => {
  const [readme] = pagesAt('README.md');
  expect(readme?.text.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
});

test('package.json names one repository in its three addresses', () => {
  const { homepage, bugs, repository } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  const address = /^git\+(https:\/\/github\.com\/[\w.-]+\/holdpoint)\.git$/.exec(
    repository.url,
  )?.[1];
  expect([address, homepage, bugs]).toEqual([
    expect.any(String),
    `${address}#readme`,
    `${address}/issues`,
  ]);
});

test('every link to a file or a heading of the repository leads there', () => {
  const anchors = new Map(pagesAt('*.md', 'docs/**/*.md').map((page) => [page.path, page.anchors]));
  const broken = pages
    .flatMap(linksOf)
    .filter(({ target, anchor }) =>
      anchor === undefined
        ? !existsSync(join(root, target))
        : anchors.get(target)?.has(anchor) !== true,
    );
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test('a page that ships links to nothing that does not', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const inPackage = ['README.md', 'LICENSE', 'package.json', ...files];
  const absent = shipped
    .flatMap(linksOf)
    .filter(({ target }) =>
      inPackage.every((file) => target !== file && !target.startsWith(`${file}/`)),
    );
  expect(absent.map(({ link }) => link)).toEqual([]);
});

test("README's picture is a recording that ends when the flight is booked, and is small", () => {
  const path = join(root, 'docs/images/demo.svg');
  const lastFrame = readFileSync(path, 'utf8').split('<g transform=').at(-1);
  expect(lastFrame).toContain('Approved');
  expect(statSync(path).size).toBeLessThan(60_000);
});
