import { connect, type Socket } from 'node:net';
import { messageBytes, messagesOf, type PostgresMessage } from './postgres-messages.ts';

const protocolVersion = 3 << 16;
const passwordWanted = 3;

/** What the server answers to one request. */
export interface ServerReply {
  bytes: Buffer;
  inTransaction: boolean;
}

/** A session at a Postgres server, logged in by password, as raw messages. No COPY, no notifications. */
export class ServerSession {
  readonly #url: URL;
  readonly #socket: Socket;
  readonly #messages: AsyncIterator<PostgresMessage>;
  readonly #loggedIn: Promise<ServerReply>;
  #isIdle = true;

  constructor(connectionString: string) {
    this.#url = new URL(connectionString);
    this.#socket = connect(Number(this.#url.port), this.#url.hostname);
    this.#socket.on('error', () => this.close());
    this.#messages = messagesOf(this.#socket, 'server');
    this.#loggedIn = this.#logIn();
    /* Reported when the session is used. */
    this.#loggedIn.catch(() => this.close());
  }

  /** Whether the next client may have it: nothing is begun, and it did not drop. */
  get isIdle(): boolean {
    return this.#isIdle && !this.#socket.destroyed;
  }

  /** Sends a whole request, which is all up to the server's next turn to wait, and gives the whole reply. */
  async ask(request: Buffer): Promise<ServerReply> {
    this.#isIdle = false;
    await this.#loggedIn;
    this.#socket.write(request);
    const reply = await this.#reply();
    this.#isIdle = !reply.inTransaction;
    return reply;
  }

  /** Sends a request and disconnects: the server handles it, and its response is lost. */
  async leaveWith(request: Buffer): Promise<void> {
    this.#isIdle = false;
    await this.#loggedIn;
    this.#socket.end(request);
  }

  close(): void {
    this.#isIdle = false;
    this.#socket.destroy();
  }

  async #logIn(): Promise<ServerReply> {
    const { username, password, pathname } = this.#url;
    const login = ['user', username, 'database', pathname.slice(1), ''];
    this.#socket.write(messageBytes('', protocolVersion, ...login));
    const { type, body } = await this.#next();
    if (type !== 'R' || body.readInt32BE() !== passwordWanted) {
      throw new Error(`The server asks for something else than a password: ${body.toString()}`);
    }
    this.#socket.write(messageBytes('p', password));
    return this.#reply();
  }

  async #reply(): Promise<ServerReply> {
    const parts: Buffer[] = [];
    for (;;) {
      const { type, body, bytes } = await this.#next();
      /* A notification is for a session, and clients have none. */
      if (type !== 'A') parts.push(bytes);
      if (type === 'Z') {
        return { bytes: Buffer.concat(parts), inTransaction: body.toString() !== 'I' };
      }
    }
  }

  async #next(): Promise<PostgresMessage> {
    const { value, done } = await this.#messages.next();
    if (done === true) throw new Error('The server closed the session.');
    return value;
  }
}
