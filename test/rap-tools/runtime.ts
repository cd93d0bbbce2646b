import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';

/** A message that a tool server posted. */
export interface Callback {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  text: string;
  json: Message;
}

/** A `user_choice` or a `tool_result`, as the protocol has them. */
interface Message {
  type: string;
  group_id: string;
  id: string;
  call_id?: string | null;
  prompt: string;
  choices: string[];
  default: number;
  response_url: string;
  text: string;
}

/** What the runtime does with the next callback: answers a status, never answers, or cuts the connection. */
type Reply = number | 'hang' | 'cut' | 'redirect';

/**
 * The other side, written from the protocol alone: it posts invocations and selections, and takes callbacks on a loopback port.
 * What it takes is queued for `next`.
 */
export class Runtime {
  readonly callbacks: Callback[] = [];
  readonly #replies: Reply[] = [];
  readonly #readers: ((callback: Callback) => void)[] = [];
  readonly #unread: Callback[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Runtime> {
    const server = createServer();
    const runtime = new Runtime(server);
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      void runtime.#respond(incoming, outgoing);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return runtime;
  }

  get origin(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  get callbackUrl(): string {
    return `${this.origin}/callback?capability=s3cret`;
  }

  /** How the next callbacks are answered, in turn; after them 200. */
  replies(...replies: Reply[]): void {
    this.#replies.push(...replies);
  }

  /** The next callback that was not looked at yet. */
  async next(): Promise<Callback> {
    const callback = this.#unread.shift();
    if (callback !== undefined) return callback;
    return new Promise((resolve) => {
      this.#readers.push(resolve);
    });
  }

  /** The types of all callbacks so far. */
  get types(): string[] {
    return this.callbacks.map(({ json }) => json.type);
  }

  /** An invocation of this runtime. */
  invocation(operation: string, more: object = {}): object {
    return {
      operation,
      arguments: {},
      id: 'call_abc123',
      callback_url: this.callbackUrl,
      group_id: 'thread_xyz',
      ...more,
    };
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const reply = await this.#take(incoming);
    if (reply === 'cut') incoming.socket.destroy();
    else if (reply === 'redirect') outgoing.writeHead(307, { location: '/elsewhere' }).end();
    else if (reply !== 'hang') outgoing.writeHead(reply).end('Not for you to read.');
  }

  async #take(incoming: IncomingMessage): Promise<Reply> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, url: path, headers } = incoming;
    const text = Buffer.concat(chunks).toString('utf8');
    const callback = { method, path, headers, text, json: JSON.parse(text) };
    this.callbacks.push(callback);
    const reader = this.#readers.shift();
    if (reader === undefined) this.#unread.push(callback);
    else reader(callback);
    return this.#replies.shift() ?? 200;
  }
}

/** A post as a runtime makes it. */
export function post(url: string, body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
