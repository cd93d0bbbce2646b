import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

type FetchHandler = (request: Request) => Promise<Response>;

/** Where the app serves its callbacks: the handler may be another after a restart, and there may be none. */
export class CallbackSite implements AsyncDisposable {
  handler: FetchHandler | undefined;
  readonly #server: Server = createServer((incoming, outgoing) => {
    void this.#serve(incoming, outgoing);
  });

  static async start(): Promise<CallbackSite> {
    const site = new CallbackSite();
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  get url(): string {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens to TCP.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/rap`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const request = new Request(new URL(url, this.url), {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    });
    const response = (await this.handler?.(request)) ?? new Response(null, { status: 503 });
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    /* What nobody read of a body that was too long. */
    incoming.resume();
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  }
}
