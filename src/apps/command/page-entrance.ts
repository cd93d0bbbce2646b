import { makeRandomId } from '../../content/crypto.ts';

/*
 * Browsers send a cookie to every port of a host, so that a server on another port gets it at the path of the page, if it knows the path.
 * What a browser stores stays with its own port. So the address that anybody may read has no page: it redirects browsers that have stored
 * the path.
 */

/** Has a browser store the path of the page of this entrance, and redirects it there. */
export function storePath(entrance: string, path: string, headers: Record<string, string>) {
  const script = `localStorage.setItem(${JSON.stringify(entrance)}, ${JSON.stringify(path)}); location.replace(${JSON.stringify(path)} + location.hash);`;
  return makeScriptPage(script, '', headers);
}

/** Redirects a browser that has stored the path to the page. `advice` is text for others; it has no markup. */
export function leadToPage(advice: string): Response {
  const script =
    'const path = localStorage.getItem(location.pathname); if (path !== null) location.replace(path + location.hash);';
  return makeScriptPage(script, advice, {});
}

function makeScriptPage(script: string, text: string, headers: Record<string, string>): Response {
  const nonce = makeRandomId();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return new Response(
    `<!doctype html>\n<meta charset="utf-8">\n<title>Inbox</title>\n<script nonce="${nonce}">${script}</script>\n<p>${text}\n`,
    {
      headers: {
        ...headers,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      },
    },
  );
}
