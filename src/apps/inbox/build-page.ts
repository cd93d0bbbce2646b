import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The files of the page. */
export interface PageFiles {
  script: string;
  style: string;
}

const inPage = (name: string): string => fileURLToPath(new URL(`page/${name}`, import.meta.url));

/*
 * The modules that page and server share have schemas, which the page does not use: zod would double its size. These stand-ins do nothing,
 * and fail if the page tries to parse with one. See ADR 62.
 */
const noSchemas = `
const refuse = () => { throw new TypeError('The page of the inbox has no schemas.'); };
const schema = new Proxy(() => {}, {
  get: (_, name) => /parse/i.test(String(name)) ? refuse : schema,
  apply: () => schema,
});
export const z = schema;
`;
const withoutSchemas = {
  name: 'without-schemas',
  resolveId: (id: string) => (id === 'zod' ? '\0no-schemas' : undefined),
  load: (id: string) => (id === '\0no-schemas' ? noSchemas : undefined),
};

let built: Promise<PageFiles> | undefined;

/* `#inbox-page` in package.json: from source, the page is built at its first request; the package contains it built. */
export async function readPageFiles(): Promise<PageFiles> {
  built ??= buildPage();
  return built;
}

/** Builds the page. */
async function buildPage(): Promise<PageFiles> {
  const bundle = await rolldown({
    input: inPage('main.tsx'),
    platform: 'browser',
    tsconfig: false,
    logLevel: 'warn',
    plugins: [withoutSchemas],
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, comments: false });
  await bundle.close();
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error('The page is more than one file.');
  const styles = ['page.css', 'reading.css'].map((name) => readFile(inPage(name), 'utf8'));
  return { script: chunk.code, style: (await Promise.all(styles)).join('\n') };
}
