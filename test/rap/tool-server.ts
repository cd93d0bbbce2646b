import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/*
 * A tool server as the document of the protocol has it, written from that document and from nothing else: it shares no code with the
 * package.
 */
const invocationSchema = z.strictObject({
  operation: z.string(),
  arguments: z.unknown(),
  id: z.string(),
  call_id: z.string().nullish(),
  callback_url: z.string(),
  group_id: z.string(),
  user_id: z.string().nullish(),
  /* Not of the protocol, which lets a server ignore what it does not know. */
  requesters_digest: z.string().nullish(),
});

/** A call as the server got it. */
export type Invocation = z.infer<typeof invocationSchema>;

/** A request as it came in. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  text: string;
}

/** What the server does with a request. */
type Behaviour = (
  received: Received,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown;

/** Answers with an empty response of a status. */
export function status(code: number): Behaviour {
  return (_received, response) => response.writeHead(code).end();
}

/** Answers with JSON. */
export function json(body: unknown, code = 200): Behaviour {
  return (_received, response) =>
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Breaks the connection without an answer. */
export const hangUp: Behaviour = (_received, _response, request) => request.socket.destroy();

/** A tool server on this machine. */
export class ToolServer implements AsyncDisposable {
  readonly invocations: Invocation[] = [];
  /** What was posted to its `/user_choice_response`. */
  readonly answers: unknown[] = [];
  /** What was posted to its `/cancel_tool_call`. */
  readonly cancellations: unknown[] = [];
  /** What was posted to its `/tool_call_status`. */
  readonly questions: unknown[] = [];
  readonly received: Received[] = [];
  /** Of each next request there; afterwards 200. */
  readonly invokeBehaviours: Behaviour[] = [];
  readonly answerBehaviours: Behaviour[] = [];
  readonly cancelBehaviours: Behaviour[] = [];
  readonly statusBehaviours: Behaviour[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #waiting: { isSo: () => boolean; resolve: () => void }[] = [];

  static async start(): Promise<ToolServer> {
    const server = new ToolServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens to TCP.
    return (this.#server.address() as AddressInfo).port;
  }

  get endpoint(): string {
    return `${this.origin}/invoke`;
  }

  get responseUrl(): string {
    return `${this.origin}/user_choice_response`;
  }

  /** The newest call. */
  get last(): Invocation {
    const last = this.invocations.at(-1);
    if (last === undefined) throw new Error('The server was not called.');
    return last;
  }

  /** Resolves when something is so, looked at after each request. */
  async until(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isSo, resolve });
    await promise;
  }

  /** Asks the person: a `user_choice`, of which some fields may be said otherwise. Gives the status of the reply. */
  async ask(invocation: Invocation, fields: object = {}): Promise<number> {
    return this.call(invocation, {
      type: 'user_choice',
      prompt: 'Allow writing to the original directory?',
      choices: ['Yes for session', 'Yes once', 'No'],
      default: 2,
      response_url: this.responseUrl,
      ...fields,
    });
  }

  /** Ends the call: a `tool_result`. */
  async finish(invocation: Invocation, fields: object = { text: 'Written.' }): Promise<number> {
    return this.call(invocation, { type: 'tool_result', ...fields });
  }

  /** Calls back about a call, with its ids unless they are said otherwise. */
  async call(invocation: Invocation, message: object): Promise<number> {
    const { group_id, id, call_id } = invocation;
    return post(invocation.callback_url, { group_id, id, call_id, ...message });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, text: await textOf(request) };
    this.received.push(received);
    const behaviour = this.#take(path, JSON.parse(received.text)).shift();
    await (behaviour ?? status(200))(received, response, request);
    for (const { isSo, resolve } of this.#waiting) if (isSo()) resolve();
  }

  /** Notes what came in, and gives what the server does with such. */
  #take(path: string, body: unknown): Behaviour[] {
    if (path.startsWith('/user_choice_response')) {
      this.answers.push(body);
      return this.answerBehaviours;
    }
    if (path === '/cancel_tool_call') {
      this.cancellations.push(body);
      return this.cancelBehaviours;
    }
    if (path === '/tool_call_status') {
      this.questions.push(body);
      return this.statusBehaviours;
    }
    this.invocations.push(invocationSchema.parse(body));
    return this.invokeBehaviours;
  }
}

/** Posts JSON, or a text as it is; gives the status. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}
