import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { messageBytes, messagesOf } from './postgres-messages.ts';
import { ServerSession, type ServerReply } from './server-session.ts';

/** Which connections are lost at a request: before the server got it, while it is at it, or when its reply has come. */
export interface Cut {
  who: 'client' | 'server' | 'everyone';
  when: 'before' | 'during' | 'after';
}

/** How a pooler pools. */
export interface PoolerOptions {
  connectionString: string;
  /** How many sessions at the server all clients share. */
  sessions?: number;
  /** Asked at each request, with its text, whether connections are lost. */
  cutAt?: (request: string) => Cut | undefined;
}

/* Logged in, asked for nothing; told the one setting that clients may ask about; a key that cancels nothing; idle. */
const greeting = Buffer.concat([
  messageBytes('R', 0),
  messageBytes('S', 'client_encoding', 'UTF8'),
  messageBytes('K', 0, 0),
  Buffer.from('Z\0\0\0\x05I'),
]);
const connectionFailure = messageBytes('E', 'SFATAL', 'C08006', 'MThe connection is lost.', '');

/**
 * A Postgres pooler in transaction mode, on a free port. Each transaction of a client goes to the session that was idle
 * longest, so that two in a row share none, and all that a session holds is lost between them: settings, locks,
 * prepared statements.
 */
export class TransactionPooler implements AsyncDisposable {
  readonly #options: PoolerOptions;
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #sessions = new Set<ServerSession>();
  readonly #idle: ServerSession[] = [];
  readonly #waiting: ((session: ServerSession) => void)[] = [];

  private constructor(options: PoolerOptions) {
    this.#options = options;
    this.#server = createServer((client) => void this.#serve(client));
    for (let count = options.sessions ?? 3; count > 0; count -= 1) this.#idle.push(this.#open());
  }

  static async start(options: PoolerOptions): Promise<TransactionPooler> {
    const pooler = new TransactionPooler(options);
    await once(pooler.#server.listen(0, '127.0.0.1'), 'listening');
    return pooler;
  }

  get port(): number {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Drops every connection, to clients and to the server, as a restart does. */
  dropAll(): void {
    for (const client of this.#clients) client.destroy();
    for (const session of this.#sessions) session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    this.dropAll();
    await closed;
  }

  /** One client from its first word to its last. */
  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client);
    client.on('error', () => client.destroy());
    let session: ServerSession | undefined;
    try {
      for await (const request of requestsOf(client)) {
        session ??= await this.#borrow();
        const reply = await this.#forward(request, session, client).catch(() => undefined);
        client.write(reply?.bytes ?? connectionFailure);
        if (reply === undefined) return;
        if (reply.inTransaction) continue;
        this.#lend(session);
        session = undefined;
      }
    } catch {
      /* The client dropped; what it left is cleared away below. */
    } finally {
      this.#clients.delete(client);
      if (session !== undefined) this.#lend(session);
    }
  }

  async #forward(request: Buffer, session: ServerSession, client: Socket): Promise<ServerReply> {
    if (client.destroyed) throw new Error('The client is gone.');
    const cut = this.#options.cutAt?.(request.toString());
    if (cut === undefined) return session.ask(request);
    if (cut.when === 'during') await session.leaveWith(request);
    if (cut.when === 'after') await session.ask(request);
    if (cut.who === 'client') client.destroy();
    if (cut.who === 'server') session.close();
    if (cut.who === 'everyone') this.dropAll();
    throw new Error('The connection is cut.');
  }

  async #borrow(): Promise<ServerSession> {
    const session = this.#idle.shift();
    if (session === undefined) return new Promise((resolve) => this.#waiting.push(resolve));
    return this.#clean(session);
  }

  #lend(session: ServerSession): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(this.#clean(session));
    else next(this.#clean(session));
  }

  /** The session, or a new one where the last client left it unfinished, or it dropped. */
  #clean(session: ServerSession): ServerSession {
    if (session.isIdle) return session;
    session.close();
    this.#sessions.delete(session);
    return this.#open();
  }

  #open(): ServerSession {
    const session = new ServerSession(this.#options.connectionString);
    this.#sessions.add(session);
    return session;
  }
}

/** What a client asks for, each up to where it waits for the reply. */
async function* requestsOf(client: Socket): AsyncGenerator<Buffer, void, void> {
  let parts: Buffer[] = [];
  for await (const { type, bytes } of messagesOf(client, 'client')) {
    if (type === 'X') return;
    if (type === '') client.write(greeting);
    else parts.push(bytes);
    if (type !== 'Q' && type !== 'S') continue;
    yield Buffer.concat(parts);
    parts = [];
  }
}
