import type { timer } from '../../content/timer.ts';
import type { WebhookSignatures } from './webhook-signatures.ts';

/** What the messages of one side are posted with. */
export interface Poster {
  fetch: typeof fetch;
  signatures: WebhookSignatures | undefined;
  /** How long the other side may take to acknowledge one, in milliseconds. */
  timeoutMs: number;
  timer: typeof timer;
}

/** What is posted. `id` is the same each time that the same is sent. */
export interface Post {
  id: string;
  url: URL | string;
  body: object;
  signal: AbortSignal | undefined;
}

/** What came of a POST. */
export type Posted =
  | { status: 'taken' }
  /** The other side said no. */
  | { status: 'refused'; why: string }
  /** There was no connection to it. */
  | { status: 'unreached'; why: string; cause: unknown }
  /** Whether it was taken is not known. */
  | { status: 'unknown'; why: string; cause?: unknown };

/** Posts once. Redirects are not followed, and of the response no more than the status is read. Never rejects. */
export async function postJson(poster: Poster, post: Post): Promise<Posted> {
  const over = new AbortController();
  try {
    const response = await send(poster, post, over.signal);
    /* Nobody reads it, however long it is. */
    void response.body?.cancel().catch(() => {});
    const why = `HTTP ${response.status}`;
    if (response.ok) return { status: 'taken' };
    return { status: response.status >= 500 ? 'unknown' : 'refused', why };
  } catch (error) {
    const code = codeOf(error);
    const isUnsent = code !== undefined && unsent.has(code);
    const why = code ?? nameOf(error);
    return { status: isUnsent ? 'unreached' : 'unknown', why, cause: error };
  } finally {
    over.abort();
  }
}

async function send(
  { fetch: sendRequest, signatures, timeoutMs, timer: wait }: Poster,
  { id, url, body, signal }: Post,
  over: AbortSignal,
): Promise<Response> {
  const text = JSON.stringify(body);
  const late = new AbortController();
  void wait(timeoutMs, over).then(() => late.abort(new DOMException('', 'TimeoutError')));
  return sendRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signatures?.headersFor(id, text) },
    body: text,
    redirect: 'manual',
    signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
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
