import { readPageFiles } from '#inbox-page';
import { hashText } from '../../content/crypto.ts';
import type { InboxHandlerOptions } from './inbox-handler-options.ts';

/* The page's first request. The browser preloads it for the script; the two must be the same to the letter. */
const firstList = 'requests?list=mine&order=risk&limit=50';

/** The page's HTML and headers. */
export interface PageSettings {
  /** The HTML of the page. */
  html: string;
  /** Its response headers. */
  headers: Record<string, string>;
}

/** Prepares the page for the options. Throws a `TypeError` for an invalid stylesheet or frame. */
export function preparePage(options: InboxHandlerOptions): PageSettings {
  const { path = '/inbox', stylesheet, frameAncestors = [] } = options;
  const ancestors = frameAncestors.map(checkAncestor);
  const styleOrigin = stylesheet === undefined ? undefined : findStyleOrigin(stylesheet);
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...(styleOrigin === undefined ? [] : [styleOrigin])].join(' '),
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ancestors.join(' ')}`,
  ];
  return {
    html: renderPage(path, stylesheet),
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      ...(ancestors.length === 0 ? { 'x-frame-options': 'DENY' } : {}),
    },
  };
}

/** Serves one of the page's files; a browser revalidates it each time. */
export async function servePageFile(
  request: Request,
  name: 'page.js' | 'page.css',
): Promise<Response> {
  const { script, style } = await readPageFiles();
  const text = name === 'page.js' ? script : style;
  const etag = `"${await hashText(text)}"`;
  const headers = { etag, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
  if (request.headers.get('if-none-match') === etag) {
    return new Response(null, { status: 304, headers });
  }
  const type = name === 'page.js' ? 'text/javascript' : 'text/css';
  return new Response(text, { headers: { ...headers, 'content-type': `${type}; charset=utf-8` } });
}

/* The path and the stylesheet come from the app, and are escaped all the same. */
function renderPage(path: string, stylesheet: string | undefined): string {
  const own =
    stylesheet === undefined ? '' : `\n<link rel="stylesheet" href="${escapeHtml(stylesheet)}">`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Inbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeHtml(path)}/page.css">${own}
<script type="module" src="${escapeHtml(path)}/page.js"></script>
<link rel="preload" as="fetch" href="${escapeHtml(`${path}/api/${firstList}`)}" crossorigin>
<div id="root"></div>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/["&<>]/g, (character) => `&#${character.codePointAt(0)};`);
}

function checkAncestor(ancestor: string): string {
  if (ancestor === "'self'") return ancestor;
  const isOrigin = URL.canParse(ancestor) && /^https?:\/\/[^\s;,'"/]+$/.test(ancestor);
  if (isOrigin) return ancestor;
  throw new TypeError(
    `frameAncestors has ${JSON.stringify(ancestor)}, which is neither 'self' in quotes nor an http(s) origin.`,
  );
}

/** Finds the origin that the policy must allow for a stylesheet; `undefined` for the page's own site. */
function findStyleOrigin(stylesheet: string): string | undefined {
  if (/^\/(?![/\\])/.test(stylesheet)) return undefined;
  const { protocol, origin } = URL.canParse(stylesheet)
    ? new URL(stylesheet)
    : { protocol: '', origin: '' };
  if (/^https?:$/.test(protocol)) return origin;
  throw new TypeError(
    `stylesheet must be a path that begins with '/', or an http(s) URL; got ${JSON.stringify(stylesheet)}.`,
  );
}
