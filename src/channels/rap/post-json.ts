import type { WebhookSignatures } from './webhook-signatures.ts';

/** The settings with which one side posts its messages. */
export interface Poster {
  fetch: typeof fetch;
  signatures: WebhookSignatures | undefined;
  /** The time that the other side may take to acknowledge a message, in milliseconds. */
  timeoutMs: number;
  timer: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** A message to post. A message that is sent again keeps its `id`. */
interface Post {
  id: string;
  url: URL | string;
  body: object;
  signal: AbortSignal | undefined;
  /** The number of bytes of the response to read. Default 0. */
  readBytes?: number;
}

/** The result of a POST. */
export type Posted =
  | { status: 'accepted'; text: string }
  /** The other side responded that it does not accept the message. */
  | { status: 'refused'; why: string; text: string }
  /** There was no connection: the message was not sent. */
  | { status: 'unreachable'; why: string; cause: unknown }
  /** It is unknown whether the message was accepted. */
  | { status: 'unknown'; why: string; cause?: unknown };

/** Posts once. Does not follow redirects, and reads only the status and `readBytes` of the response. Never rejects. */
export async function postJson(poster: Poster, post: Post): Promise<Posted> {
  const finished = new AbortController();
  const timedOut = new AbortController();
  void poster
    .timer(poster.timeoutMs, finished.signal)
    .then(() => timedOut.abort(new DOMException('', 'TimeoutError')));
  const signals = [timedOut.signal, ...(post.signal === undefined ? [] : [post.signal])];
  const signal = AbortSignal.any(signals);
  try {
    const response = await send(poster, post, signal);
    const text = await readBeginning(response, post.readBytes ?? 0, signal);
    const why = `HTTP ${response.status}`;
    if (response.ok) return { status: 'accepted', text };
    return response.status >= 500 ? { status: 'unknown', why } : { status: 'refused', why, text };
  } catch (error) {
    const code = readErrorCode(error);
    const isUnsent = code !== undefined && unsent.has(code);
    const why = code ?? readErrorName(error);
    return { status: isUnsent ? 'unreachable' : 'unknown', why, cause: error };
  } finally {
    finished.abort();
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
    headers: { 'content-type': 'application/json', ...signatures?.makeHeaders(id, text) },
    body: text,
    redirect: 'manual',
    signal,
  });
}

/* The status decides: a body that breaks off, or never ends, counts as a short one. */
async function readBeginning(
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
    /* The part that was read so far is used. */
  }
  leave();
  return text;
}

/* With these errors there was no connection. */
const unsent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function readErrorCode(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined;
  return typeof cause.code === 'string' ? cause.code : undefined;
}

function readErrorName(error: unknown): string {
  return error instanceof Error ? error.name : 'no connection';
}

/** The retries of a message, and the text of the error after the last one. */
interface RetryOptions {
  retries: number;
  /** Returns the pause before the next attempt, in milliseconds, after `retried` retries. */
  pauseMs: (retried: number) => number;
  /** May reject when the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called before each retry. It may abort the signal; if it rejects, the attempt has failed. */
  beforeRetry?: () => Promise<void>;
  /** The beginning of the error message; the reason follows. */
  fault: string;
}

/**
 * Posts a message until it is accepted. Retries when the other side failed or can't be reached, never when it refused. Rejects with the
 * last failure after all retries, and with the signal's reason when that aborts.
 */
export async function postWithRetries(
  poster: Poster,
  post: Post & { signal: AbortSignal },
  { retries, pauseMs, wait, beforeRetry, fault }: RetryOptions,
): Promise<void> {
  const { signal } = post;
  for (let retried = 0; ; retried += 1) {
    signal.throwIfAborted();
    let posted: Posted | undefined;
    try {
      if (retried > 0) await beforeRetry?.();
      signal.throwIfAborted();
      posted = await postJson(poster, post);
      signal.throwIfAborted();
      if (posted.status === 'accepted') return;
      const { why, ...failure } = posted;
      throw new Error(`${fault} (${why}).`, 'cause' in failure ? { cause: failure.cause } : {});
    } catch (error) {
      signal.throwIfAborted();
      if (retried >= retries || posted?.status === 'refused') throw error;
    }
    await wait(pauseMs(retried), signal);
  }
}
