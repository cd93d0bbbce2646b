import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The files of the page. */
export interface PageFiles {
  script: string;
  style: string;
}

const inPage = (name: string): string => fileURLToPath(new URL(`page/${name}`, import.meta.url));

let built: Promise<PageFiles> | undefined;

/* `#inbox-page` in package.json: from source, the page is built when it is first asked for; the package has it built ahead. */
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
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, comments: false });
  await bundle.close();
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error('The page is more than one file.');
  return { script: chunk.code, style: await readFile(inPage('page.css'), 'utf8') };
}
