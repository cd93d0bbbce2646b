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
  /** How much of the response is read, in bytes. Default: nothing. */
  readBytes?: number;
}

/** What came of a POST. */
export type Posted =
  | { status: 'taken'; text: string }
  /** The other side said no. */
  | { status: 'refused'; why: string; text: string }
  /** There was no connection to it. */
  | { status: 'unreached'; why: string; cause: unknown }
  /** Whether it was taken is not known. */
  | { status: 'unknown'; why: string; cause?: unknown };

/** Posts once. Redirects are not followed, and of the response no more than the status and `readBytes` is read. Never rejects. */
export async function postJson(poster: Poster, post: Post): Promise<Posted> {
  const over = new AbortController();
  const late = new AbortController();
  void poster
    .timer(poster.timeoutMs, over.signal)
    .then(() => late.abort(new DOMException('', 'TimeoutError')));
  const signals = [late.signal, ...(post.signal === undefined ? [] : [post.signal])];
  const signal = AbortSignal.any(signals);
  try {
    const response = await send(poster, post, signal);
    const text = await beginningOf(response, post.readBytes ?? 0, signal);
    const why = `HTTP ${response.status}`;
    if (response.ok) return { status: 'taken', text };
    return response.status >= 500 ? { status: 'unknown', why } : { status: 'refused', why, text };
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
  { fetch: sendRequest, signatures }: Poster,
  { id, url, body }: Post,
  signal: AbortSignal,
): Promise<Response> {
  const text = JSON.stringify(body);
  return sendRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...signatures?.headersFor(id, text) },
    body: text,
    redirect: 'manual',
    signal,
  });
}

/* What the other side says beside its status changes nothing about it: a body that breaks off, or never ends, is as one that is short. */
async function beginningOf(
  { body }: Response,
  readBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const leave = (): void => void reader?.cancel().catch(() => {});
  signal.addEventListener('abort', leave, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let length = 0; length < readBytes;) {
      const read = await reader?.read();
      if (read?.value === undefined) break;
      text += decoder.decode(read.value.subarray(0, readBytes - length), { stream: true });
      length += read.value.byteLength;
    }
  } catch {
    /* As far as it came. */
  }
  leave();
  return text;
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
