import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A fetch handler, as used by Next, Hono, Bun, Deno and Workers. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Serves a fetch handler with `node:http`, on this machine only. Resolves when it listens. Requests for another host or from a page of
 * another site are refused, as the demo has no sign-in that would stop them. Rejects if the port can't be had.
 */
export async function serveFetch(handler: FetchHandler, port: number): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    void respond(handler, incoming, outgoing);
  });
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new Error(`Can't listen on port ${port}. Set PORT to a free one.`, { cause });
  }
  return server;
}

async function respond(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse) {
  try {
    const response = isFromHere(incoming)
      ? await handler(toRequest(incoming, outgoing))
      : new Response('Only local requests are allowed.', { status: 403 });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch (error) {
    /* The client disconnected, or the handler failed. */
    if (!outgoing.destroyed) console.error(error);
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(500).end();
  }
}

function isFromHere({ headers }: IncomingMessage): boolean {
  const { host = '', origin } = headers;
  const isLocal = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(host);
  /* A page that sends no referrer has the origin `null`; pages can't set the other header. */
  const isOwn = origin === `http://${host}` || headers['sec-fetch-site'] === 'same-origin';
  return isLocal && (origin === undefined || isOwn);
}

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
  });
}
