import type { RemoteServer } from './remote-server.ts';

/** What is posted. `id` is the same each time that the same is sent. */
export interface Post {
  id: string;
  url: URL;
  body: object;
  signal: AbortSignal | undefined;
}

/** What came of a POST. */
export type Posted =
  | { status: 'taken' }
  /** The server said no. */
  | { status: 'refused'; why: string }
  /** There was no connection to it. */
  | { status: 'unreached'; why: string }
  /** Whether the server took it is not known. */
  | { status: 'unknown'; why: string };

/** Posts once. Redirects are not followed, and of the response no more than the status is read. Never rejects. */
export async function postJson(server: RemoteServer, post: Post): Promise<Posted> {
  try {
    const response = await send(server, post);
    /* Nobody reads it, however long it is. */
    void response.body?.cancel().catch(() => {});
    const why = `HTTP ${response.status}`;
    if (response.ok) return { status: 'taken' };
    return { status: response.status >= 500 ? 'unknown' : 'refused', why };
  } catch (error) {
    const code = codeOf(error);
    const isUnsent = code !== undefined && unsent.has(code);
    return { status: isUnsent ? 'unreached' : 'unknown', why: code ?? nameOf(error) };
  }
}

async function send(
  { fetch: sendRequest, signatures, timeoutMs }: RemoteServer,
  { id, url, body, signal }: Post,
): Promise<Response> {
  const text = JSON.stringify(body);
  const limit = AbortSignal.timeout(timeoutMs);
  return sendRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signatures?.headersFor(id, text) },
    body: text,
    redirect: 'manual',
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
}

/* With these there never was a connection. */
const unsent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'no connection';
}
