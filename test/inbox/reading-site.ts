import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { serveFetch } from '../../examples/serve-fetch.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const page = '../../src/apps/inbox/page';

/* The names that `page.css` gives to colours; what it says itself goes before. */
const theme = `
  :root {
    color-scheme: light dark;
    --holdpoint-background: light-dark(#f4f4f2, #161615);
    --holdpoint-surface: light-dark(#fff, #1f1f1d);
    --holdpoint-text: light-dark(#1c1b19, #eceae6);
    --holdpoint-muted: light-dark(#5d5a53, #aaa69d);
    --holdpoint-accent: light-dark(#0b57b0, #8ab8ff);
    --holdpoint-danger: light-dark(#a3172a, #ff9aa4);
    --holdpoint-border: light-dark(#dcd9d2, #3b3a36);
    --holdpoint-font: system-ui, 'Liberation Sans', sans-serif;
  }
  body { margin: 0; }
  #site { display: grid; grid-template-rows: minmax(0, 1fr) auto; block-size: 100dvh;
    background: var(--holdpoint-surface); color: var(--holdpoint-text);
    font: 0.95rem/1.5 var(--holdpoint-font); }
  #site > main { overflow-y: auto; padding: 1rem; }
  #site > footer { padding: 0.5rem 1rem; border-block-start: 1px solid var(--holdpoint-border); }
`;

/* That of the inbox. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Reading</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/page.css"><script type="module" src="/page.js"></script>
<div id="site"><main tabindex="0"><h1>Inbox</h1><h2 id="request-title" tabindex="-1">A request</h2><div id="root"></div></main>
<footer><button type="button">Approve</button></footer></div>`;

/** Serves a page that shows what a test gives to `showRequest`, `showDifferences` or `showEdit`. */
export async function serveReading() {
  const [script, style] = await Promise.all([buildScript(), readStyle()]);
  const server = await serveFetch(async (request) => {
    const { pathname } = new URL(request.url);
    const [type, body] =
      pathname === '/page.js'
        ? ['text/javascript', script]
        : pathname === '/page.css'
          ? ['text/css', style]
          : ['text/html', html];
    return new Response(body, {
      headers: { 'content-type': type, 'content-security-policy': policy },
    });
  }, 0);
  const address = server.address();
  const url = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, script, close };
}

async function buildScript(): Promise<string> {
  const bundle = await rolldown({
    input: pathOf('../fixtures/reading-page.tsx'),
    platform: 'browser',
    tsconfig: false,
    logLevel: 'warn',
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, comments: false });
  await bundle.close();
  return output[0].code;
}

async function readStyle(): Promise<string> {
  const files = await Promise.all(
    ['page.css', 'reading.css'].map(async (name) => readFile(pathOf(`${page}/${name}`), 'utf8')),
  );
  return [theme, ...files].join('\n');
}
