import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A TypeScript block of README or of a page of the docs: a module of its own. */
export interface DocBlock {
  /** The page and the heading it stands under, and its number there. */
  name: string;
  /** The folder of its page in the test's project, and its file there. */
  folder: string;
  file: string;
  code: string;
  /** The next block under the same heading, where it is plain text: what it prints. */
  output: string | undefined;
}

/** README and the docs, by their paths. */
const docPages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()];

/** The blocks of all pages, in the order of each page. */
export const docBlocks: readonly DocBlock[] = docPages.flatMap((page) =>
  readFileSync(join(root, page), 'utf8')
    .split(/^##+ /m)
    .flatMap((section) => blocksIn(page, section)),
);

/** The file name in the first line of a block, which other blocks import it by. */
function namedFile(code = ''): string | undefined {
  return /^\/\/ (?:src\/)?(\w+\.tsx?)\n/.exec(code)?.[1];
}

function blocksIn(page: string, section: string): DocBlock[] {
  const [heading = ''] = section.split('\n', 1);
  const title = heading.replace(/^# /, '');
  const folder = page.replaceAll(/\W+/g, '-');
  const found = [...section.matchAll(/```(tsx?)\n(.*?)```\n(?:(?:(?!```).)*```text\n(.*?)```)?/gs)];
  return found.map(([, kind, code, output], index) => ({
    name: `${page}: ${title}, ${index + 1}`,
    folder,
    file: namedFile(code) ?? `${title.replaceAll(/\W+/g, '-')}-${index + 1}.${kind}`,
    code: `${code}\nexport {};\n`,
    output,
  }));
}
