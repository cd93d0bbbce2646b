import { hashText } from '../../content/crypto.ts';
import { makeOnce } from '../../content/once.ts';
import { type Html, html } from './html.ts';

/** A page of a link. */
export interface LinkPage {
  status?: number;
  title: string;
  body: Html;
}

/*
 * The address of a page contains the token, so no page sends its address on (`referrer-policy`), is cached, indexed, or framed. Nothing is
 * loaded and no script runs.
 */
const fixedHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The response with a page. */
export async function makePageResponse({ status = 200, title, body }: LinkPage): Promise<Response> {
  const headers = { ...fixedHeaders, 'content-security-policy': await describePolicy() };
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `;
  return new Response(page.markup, { status, headers });
}

/** The response with a page of one message. */
export async function makeNoticePage(
  status: number,
  title: string,
  text: string,
): Promise<Response> {
  return makePageResponse({
    status,
    title,
    body: html`<h1>${title}</h1>
      <p>${text}</p>`,
  });
}

/** Makes the same headers without a page: for `HEAD`, `OPTIONS`, or another method. */
export async function makeBareResponse(
  status: number,
  more: Record<string, string> = {},
): Promise<Response> {
  const policy = await describePolicy();
  const headers = { ...fixedHeaders, 'content-security-policy': policy, ...more };
  return new Response(null, { status, headers });
}

const describePolicy = makeOnce(async () => {
  const hash = await hashText(style);
  const inBase64 = `${hash.replaceAll('-', '+').replaceAll('_', '/')}=`;
  return [
    "default-src 'none'",
    `style-src 'sha256-${inBase64}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
});

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 45rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; white-space: pre-wrap; }
h2 { font-size: 1rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.75rem; }
pre { margin: 0; padding: 0.5rem; border: 1px solid; border-radius: 0.25rem; white-space: pre-wrap; font-size: 0.9rem; }
li { white-space: pre-wrap; }
a { color: inherit; }
.person, small { font-size: 0.9rem; }
.warning, .fault { border: 2px solid #b3261e; border-radius: 0.25rem; padding: 0.5rem; }
.warning p { margin: 0; font-weight: 600; }
fieldset { margin: 0 0 1rem; border: 1px solid; border-radius: 0.25rem; }
label { font-weight: 600; }
.option { display: flex; gap: 0.5rem; padding: 0.5rem 0; font-weight: 400; }
.option small { display: block; }
textarea { display: block; box-sizing: border-box; width: 100%; font: inherit; }
.buttons { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: center; }
button { min-height: 2.75rem; padding: 0 1.5rem; font: inherit; font-weight: 600; }
`;

/*
 * Not `html`, whose templates are formatted: what is hashed is exactly what stands between the tags, and has no character that is escaped.
 */
const verbatim = html;
const styleElement = verbatim`<style>${style}</style>`;
