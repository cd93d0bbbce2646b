import {
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { makeRandomId } from '../../content/crypto.ts';
import type { GateCaller } from './gate-options.ts';

/** A session of a client of protocol 2025-11-25 or older: its owner, and the server that remembers it. */
export interface HttpSession {
  id: string;
  caller: GateCaller;
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
  /** The number of its responses that are being sent. */
  open: number;
  /** The ids of its requests that are being answered. */
  requestIds: Set<RequestId>;
  usedAt: number;
}

interface SessionLimits {
  maximum: number;
  maximumPerPerson: number;
  isSame: (one: unknown, other: unknown) => boolean;
  idleMs: number;
  now: () => number;
}

/** The sessions of older clients, bounded in number and idle time. */
export class HttpSessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #limits: SessionLimits;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /** Uses the session with this id if `isOwn` accepts it: one more of its responses will be sent. */
  use(id: string, isOwn: (session: HttpSession) => boolean): HttpSession | undefined {
    this.#closeIdle();
    const session = this.#sessions.get(id);
    if (session === undefined || !isOwn(session)) return undefined;
    session.usedAt = this.#limits.now();
    session.open += 1;
    /* Sessions are in the order of use. */
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session;
  }

  /** Opens a session, whose first response will be sent; `undefined` if all others, or all of this person, are in use. */
  async open(
    caller: GateCaller,
    makeServer: (caller: GateCaller) => Server,
  ): Promise<HttpSession | undefined> {
    this.#closeIdle();
    const { maximum, maximumPerPerson, isSame } = this.#limits;
    const isOwn = (each: HttpSession): boolean => isSame(each.caller.principal, caller.principal);
    const own = [...this.#sessions.values()].filter(isOwn);
    if (own.length >= maximumPerPerson && !this.#closeOldest(own)) return undefined;
    const all = [...this.#sessions.values()];
    if (all.length >= maximum && !this.#closeOldest(all)) return undefined;
    const server = makeServer(caller);
    const id = makeRandomId();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => void this.#sessions.delete(id),
    });
    const session = {
      id,
      caller,
      server,
      transport,
      open: 1,
      requestIds: new Set<RequestId>(),
      usedAt: this.#limits.now(),
    };
    /* Added before its client has initialized it: many may come at once. */
    this.#sessions.set(id, session);
    await server.connect(transport);
    return session;
  }

  /** Closes a session whose client was refused. */
  async refuse(session: HttpSession): Promise<void> {
    this.#sessions.delete(session.id);
    await session.server.close();
  }

  /** Closes all sessions. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled(sessions.map(async ({ server }) => server.close()));
  }

  #closeIdle(): void {
    const { now, idleMs } = this.#limits;
    for (const session of this.#sessions.values())
      if (session.open === 0 && session.usedAt + idleMs <= now()) this.#end(session);
  }

  /** Closes the session that was idle for the longest; returns false if none is idle. */
  #closeOldest(sessions: readonly HttpSession[]): boolean {
    const oldest = sessions.find(({ open }) => open === 0);
    if (oldest !== undefined) this.#end(oldest);
    return oldest !== undefined;
  }

  #end({ id, server }: HttpSession): void {
    this.#sessions.delete(id);
    server.close().catch(() => {});
  }
}
