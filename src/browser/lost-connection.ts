import type { Connection } from './connection.ts';

type Fetch = typeof globalThis.fetch;

/** Retry options of a `fetch`. */
export interface FetchRetryOptions {
  fetch: Fetch | undefined;
  /** Called before each retry. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Receives whether the server can be reached, and says when to retry earlier. */
  connection: Connection;
  /** Aborts when the page is closed. */
  signal: () => AbortSignal;
}

const firstMs = 500;
/* A server that restarts is back within a minute, in which a page is never behind for two seconds. Later attempts are fewer. */
const soonMs = 1_500;
const soonAttempts = 40;
const longestMs = 10_000;
/* A server that can be reached answers sooner. In the middle of a stream it may have nothing to say for longer, and is asked. */
const silenceMs = 12_000;

/**
 * A `fetch` that repeats a request until the server responds. Repeating is safe: messages are identified by their ids, answers by those
 * of their requests. A response that does not come from our route is turned into a refusal, `foreign-response`.
 */
export function fetchWithRetries({ fetch, wait, connection, signal }: FetchRetryOptions): Fetch {
  return async (input, init = {}) => {
    const signals = [signal(), ...(init?.signal ? [init.signal] : [])];
    const ends = AbortSignal.any(signals);
    const isRead = init.method === undefined || init.method === 'GET';
    let delay = firstMs;
    for (let attempt = 1; ; attempt += 1) {
      const patience = { wait, connection, isRead, milliseconds: silenceMs * Math.min(attempt, 2) };
      const response = await fetchPatiently(patience, async (lost) =>
        (fetch ?? globalThis.fetch)(input, { ...init, signal: AbortSignal.any([ends, lost]) }),
      );
      if (response !== undefined) {
        connection.report(true);
        return isForeign(response) ? makeForeignResponse() : response;
      }
      ends.throwIfAborted();
      connection.report(false);
      await wait(delay, AbortSignal.any([ends, connection.pause]));
      ends.throwIfAborted();
      delay = Math.min(delay * 2, attempt < soonAttempts ? soonMs : longestMs);
    }
  };
}

interface Patience extends Pick<FetchRetryOptions, 'wait' | 'connection'> {
  isRead: boolean;
  milliseconds: number;
}

/**
 * Makes one attempt. If no response comes in time, the server counts as unreachable: a read is sent again at once, a write once the server
 * is known to be back.
 */
async function fetchPatiently(
  { wait, connection, isRead, milliseconds }: Patience,
  send: (lost: AbortSignal) => Promise<Response>,
): Promise<Response | undefined> {
  const [lost, heard] = [new AbortController(), new AbortController()];
  const giveUp = (): void => {
    if (!heard.signal.aborted) lost.abort(new TypeError('network error: no response'));
  };
  const doubt = (): void => {
    if (heard.signal.aborted) return;
    connection.report(false);
    if (isRead) giveUp();
    else connection.pause.addEventListener('abort', giveUp, { once: true });
  };
  if (connection.isWatched) void wait(milliseconds, heard.signal).then(doubt);
  return fetchIfReached(async () => {
    try {
      return await send(lost.signal);
    } finally {
      heard.abort();
    }
  });
}

/* Checks whether a proxy responded for a server that is down. An error of our own route has a JSON body. */
function isServerDown({ status, headers }: Response): boolean {
  if (status === 500) return headers.get('content-type')?.startsWith('application/json') !== true;
  return status === 502 || status === 503 || status === 504;
}

/* For example a sign-in page to which the request was redirected, or the page of a captive portal. */
export function isForeign({ ok, status, headers }: Response): boolean {
  const type = headers.get('content-type') ?? '';
  return ok && status !== 204 && !/^(?:text\/event-stream|application\/json)\b/i.test(type);
}

function makeForeignResponse(): Response {
  const message = 'Something else answered for the server. You may have to sign in again.';
  return Response.json({ error: { code: 'foreign-response', message } }, { status: 502 });
}

/** Tries once to send a request. Returns the response, unless the server can't be reached. Browsers throw a `TypeError` then. */
export async function fetchIfReached(send: () => Promise<Response>): Promise<Response | undefined> {
  try {
    const response = await send();
    if (!isServerDown(response)) return response;
    await response.body?.cancel();
    return undefined;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Options for detecting a dead connection that was never closed. */
interface DeadConnectionOptions {
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Checks whether no more data can arrive; called after each period of silence. */
  isOver: () => Promise<boolean>;
}

/**
 * The response, with a body that fails like a broken connection when it is silent and no more data can arrive. Without this a page would
 * wait for ever after its network is lost, or behind a proxy that keeps the stream of a dead server open.
 */
export function detectDeadConnection(response: Response, options: DeadConnectionOptions): Response {
  if (response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await readOrSilence(reader, options);
      if (read === undefined) {
        controller.error(new TypeError('network error: the connection is silent'));
        await reader.cancel().catch(() => {});
      } else if (read.done) controller.close();
      else controller.enqueue(read.value);
    },
    cancel: async (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

async function readOrSilence(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { wait, isOver }: DeadConnectionOptions,
): Promise<Awaited<ReturnType<typeof reader.read>> | undefined> {
  const next = reader.read();
  next.catch(() => {});
  for (;;) {
    const waiting = new AbortController();
    const silence = wait(silenceMs, waiting.signal).then(() => undefined);
    const read = await Promise.race([next, silence]).finally(() => waiting.abort());
    if (read !== undefined) return read;
    /* Data may have arrived during the check. */
    if (await isOver()) return Promise.race([next, Promise.resolve(undefined)]);
  }
}
