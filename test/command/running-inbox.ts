import { request as requestHttp } from 'node:http';
import { text } from 'node:stream/consumers';
import { type EndedCommand, runCommand } from '../support/run-holdpoint.ts';

/** A request as any program can send it. */
export interface Sent {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** An inbox of the store in a file, which is served until it is disposed of. */
export class RunningInbox implements AsyncDisposable {
  readonly url: URL;
  readonly #end: () => void;
  readonly #ended: Promise<EndedCommand>;

  constructor(url: string, end: () => void, ended: Promise<EndedCommand>) {
    this.url = new URL(url);
    this.#end = end;
    this.#ended = ended;
  }

  static async start(file: string, ...args: string[]): Promise<RunningInbox> {
    const ending = Promise.withResolvers<void>();
    const { promise: printed, resolve } = Promise.withResolvers<string>();
    let output = '';
    const running = runCommand(['inbox', '--store', file, '--as', 'ben', ...args], {
      untilEnded: async () => ending.promise,
      write: async (part) => resolve((output += part)),
    });
    const ended = running.then((end) => ({ ...end, output }));
    const first = await Promise.race([printed, ended]);
    if (typeof first !== 'string') throw new Error(first.error);
    return new RunningInbox(first, ending.resolve, ended);
  }

  /** Sends a request, with the inbox's own host unless `headers` has another one. */
  async send({ path = this.url.pathname, method = 'GET', headers = {}, body }: Sent) {
    const { hostname, port } = this.url;
    const sent = requestHttp({ hostname, port, path, method, headers }).end(body);
    const response = await new Promise<
      Parameters<typeof text>[0] & { statusCode?: number; headers: Record<string, unknown> }
    >((resolve, reject) => sent.on('response', resolve).on('error', reject));
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  }

  /** Opens the address that was printed, and returns the cookie. */
  async open(): Promise<string> {
    const { headers } = await this.send({ path: this.url.pathname + this.url.search });
    return String(headers['set-cookie']).split(';')[0] ?? '';
  }

  /** Ctrl+C. */
  async end(): Promise<EndedCommand> {
    this.#end();
    return this.#ended;
  }

  async [Symbol.asyncDispose]() {
    await this.end();
  }
}
