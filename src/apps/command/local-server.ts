import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError } from 'commander';

/** A server that only this machine can reach. */
export interface LocalServer {
  /** Its address and port, as in `127.0.0.1:4321`. */
  host: string;
  close: () => Promise<void>;
}

/** Parses the port of an option. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
}

/** Another program has the port. */
export class PortTaken extends Error {}

/**
 * Serves on 127.0.0.1, which no other machine reaches. `makeHandler` receives the address. Port 0: one that is free. Throws `PortTaken`.
 */
export async function serveLocally(
  port: number,
  makeHandler: (host: string) => (request: Request) => Promise<Response>,
): Promise<LocalServer> {
  const server = createServer();
  const host = await listen(server, port);
  const handle = makeHandler(host);
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    void respond(handle, host, incoming, outgoing);
  });
  return {
    host,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function listen(server: Server, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: Error): void => {
      const isTaken = Reflect.get(cause, 'code') === 'EADDRINUSE';
      const what = `Port ${port} is in use: another program has it, or this command runs elsewhere. Choose another port.`;
      reject(isTaken ? new PortTaken(what, { cause }) : cause);
    };
    server.once('error', fail).listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `127.0.0.1:${address.port}`;
}

async function respond(
  handle: (request: Request) => Promise<Response>,
  host: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const ended = new AbortController();
  outgoing.once('close', () => ended.abort());
  try {
    const request = makeRequest(incoming, host, ended.signal);
    const response =
      request === undefined ? new Response(null, { status: 400 }) : await handle(request);
    outgoing.writeHead(response.status, [...response.headers].flat());
    if (response.body === null) {
      outgoing.end();
      return;
    }
    /* The client learns that the stream is open before anything happens. */
    outgoing.flushHeaders();
    await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch {
    /* The client has gone, or the handler can't respond any longer. */
    outgoing.destroy();
  }
}

/**
 * The request for a handler; `undefined` if it can't be one: of a method that `fetch` does not have, or with more than a path in its first
 * line.
 */
function makeRequest(
  incoming: IncomingMessage,
  host: string,
  signal: AbortSignal,
): Request | undefined {
  const { method = '', url = '' } = incoming;
  if (!url.startsWith('/')) return undefined;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {};
  const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  try {
    return new Request(`http://${host}${url}`, { method, headers, signal, ...body });
  } catch {
    return undefined;
  }
}
