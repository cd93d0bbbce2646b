import { fileURLToPath } from 'node:url';
import { build, defaultClientConditions } from 'vite';
import type { FetchHandler } from './serve-fetch.ts';

const contentTypes = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
]);

/* Nothing that a model wrote becomes markup; if it ever did, it could not load or run anything. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Builds the page in a folder, in memory, and returns a handler that serves it. */
export async function buildPage(folder: URL): Promise<FetchHandler> {
  const files = await builtFiles(fileURLToPath(folder));
  return async ({ url }) => {
    const { pathname } = new URL(url);
    const path = pathname === '/' ? 'index.html' : pathname.slice(1);
    const file = files.get(path);
    if (file === undefined) return new Response('Not found.', { status: 404 });
    return new Response(file, {
      headers: {
        'content-type': contentTypes.get(path.split('.').at(-1) ?? '') ?? 'text/plain',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      },
    });
  };
}

async function builtFiles(root: string): Promise<Map<string, string | Uint8Array<ArrayBuffer>>> {
  const built = await build({
    configFile: false,
    root,
    logLevel: 'error',
    resolve: { conditions: ['holdpoint-source', ...defaultClientConditions] },
    build: { write: false, modulePreload: false },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (output === undefined || !('output' in output)) throw new Error('The page was not built.');
  return new Map(
    output.output.map((file) => [
      file.fileName,
      file.type === 'chunk' ? file.code : new Uint8Array(Buffer.from(file.source)),
    ]),
  );
}
