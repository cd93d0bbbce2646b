import { fileURLToPath } from 'node:url';
import { build, defaultClientConditions, type InlineConfig } from 'vite';
import { serveFetch, type FetchHandler } from '../../examples/serve-fetch.ts';

/** Builds a page as one script. `root` is the folder of its project, if it has one of its own. */
export async function buildScript(input: string, root?: string): Promise<string> {
  const config: InlineConfig = {
    configFile: false,
    logLevel: 'error',
    resolve: { conditions: ['holdpoint-source', ...defaultClientConditions] },
    build: { write: false, target: 'esnext', rollupOptions: { input } },
  };
  const built = await build({ ...config, ...(root !== undefined && { root }) });
  const [output] = Array.isArray(built) ? built : [built];
  const script = output !== undefined && 'output' in output ? output.output[0] : undefined;
  if (script === undefined) throw new Error('The page was not built.');
  return script.code;
}

/** A page of `test/fixtures`, as one script. */
export async function buildFixture(name: string): Promise<string> {
  return buildScript(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)));
}

/** Serves a page that is one script, and its route at `/chat`. */
export async function serveScript(script: string, handleChat: FetchHandler) {
  const html = '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>';
  const server = await serveFetch(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/chat') return handleChat(request);
    const isScript = pathname === '/page.js';
    const type = isScript ? 'text/javascript' : 'text/html';
    return new Response(isScript ? script : html, { headers: { 'content-type': type } });
  }, 0);
  const address = server.address();
  const url = `http://localhost:${typeof address === 'object' ? address?.port : ''}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, close };
}
