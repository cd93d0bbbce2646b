import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A link of a page to a file of the repository, and to a heading in it. */
interface PageLink {
  target: string;
  anchor: string | undefined;
}

/** A Markdown page of the repository. Paths are relative to the repository. */
export class MarkdownPage {
  readonly path: string;
  readonly text: string;
  /* Without code, whose brackets and hashes are neither links nor headings. */
  readonly #prose: string;

  constructor(path: string) {
    this.path = path;
    this.text = readFileSync(join(root, path), 'utf8');
    this.#prose = this.text.replaceAll(/^```.*?^```$/gms, '');
  }

  /** The links to other files, and to headings of this one. */
  get links(): PageLink[] {
    const withoutCode = this.#prose.replaceAll(/`[^`\n]*`/g, '`');
    return [...withoutCode.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link = '']) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => {
        const [file = '', anchor] = link.split('#');
        const target = file === '' ? this.path : normalize(join(dirname(this.path), file));
        return { target, anchor };
      });
  }

  /** The anchors of its headings, as GitHub makes them. */
  get anchors(): Set<string> {
    const slugs = [...this.#prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
    return new Set(
      slugs.map((slug, index) => {
        const before = slugs.slice(0, index).filter((other) => other === slug).length;
        return before === 0 ? slug : `${slug}-${before}`;
      }),
    );
  }
}

/** The pages that match. */
export function pagesAt(...patterns: string[]): MarkdownPage[] {
  return globSync(patterns, { cwd: root })
    .toSorted()
    .map((path) => new MarkdownPage(path));
}
