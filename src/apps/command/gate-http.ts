import type { Gate, GateOptions } from '../gate.ts';
import { hashText } from '../../content/crypto.ts';
import type { LocalKey } from './local-key.ts';
import { type LocalServer, serveLocally } from './local-server.ts';
import { type CommandWorld, UsageError } from './run-command.ts';

/** The path to which clients send their requests. */
const mcpPath = '/mcp';

/** The callers that may send requests to a gate over HTTP. */
interface HttpCallers {
  /** The principal of the calls. With `header`: unused. */
  principal: unknown;
  /** The header in which a proxy names the caller. */
  header: string | undefined;
}

/** The token that clients of a gate send. */
export async function makeGateToken(key: LocalKey, name: string): Promise<string> {
  return key.sign('http', name);
}

/**
 * Identifies the sender of a request: a caller with the token of this gate is its user. With a header, only the proxy that has the secret
 * of `HOLDPOINT_PROXY_SECRET` may send requests, and names the caller in each.
 */
export function makeAuthorize(
  token: string,
  { principal, header }: HttpCallers,
  env: CommandWorld['env'],
): NonNullable<GateOptions['authorize']> {
  const secret = header === undefined ? token : readProxySecret(env);
  return async ({ request: { headers } }) => {
    const [scheme = '', given = ''] = (headers.get('authorization') ?? '').split(' ');
    const isBearer = scheme.toLowerCase() === 'bearer';
    if (!isBearer || (await hashText(given)) !== (await hashText(secret))) return refuse();
    if (header === undefined) return { principal };
    const name = readUtf8(headers.get(header) ?? '');
    /* A comma joins two headers of this name: one of them may be the client's own. */
    return name.trim() === '' || name.includes(',') ? refuse() : { principal: name };
  };
}

/*
 * Decodes a header as UTF-8. Each byte of it is read as one character, so that a name would differ from that of the person who answers.
 * Empty if it is not UTF-8.
 */
function readUtf8(header: string): string {
  const bytes = Uint8Array.from(header, (character) => character.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

function refuse(): Response {
  const headers = { 'www-authenticate': 'Bearer' };
  return Response.json({ error: { code: 'not-allowed' } }, { status: 401, headers });
}

function readProxySecret(env: CommandWorld['env']): string {
  const secret = env['HOLDPOINT_PROXY_SECRET'] ?? '';
  /* Other characters can't be sent in a token, so that every request would be refused. */
  if (/^[!-~]{22,}$/.test(secret)) return secret;
  throw new UsageError(
    '--principal-header needs the variable HOLDPOINT_PROXY_SECRET, with at least 22 characters of ASCII and no spaces: the proxy sends it as "authorization: Bearer …", and clients must not know it.',
  );
}

/** Serves a gate on 127.0.0.1, only under this name and port. */
export async function serveGateOverHttp(
  gate: Gate,
  port: number,
): Promise<LocalServer & { url: string }> {
  const server = await serveLocally(port, (host) => async (request) => {
    if (request.headers.get('host') !== host)
      return new Response(`This server is ${host} alone.\n`, { status: 403 });
    if (new URL(request.url).pathname !== mcpPath) return new Response(null, { status: 404 });
    return gate.handler(request);
  });
  return { ...server, url: `http://${server.host}${mcpPath}` };
}
