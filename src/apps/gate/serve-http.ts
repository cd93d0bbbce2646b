import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { findDoor } from '../../agent.ts';
import { checkLimit, checkMs } from '../../content/check-settings.ts';
import { makeRefusalResponse } from '../../http/error-response.ts';
import { readJsonBody } from '../../http/read-json-body.ts';
import { checkSignIn, refuseForeignOrigin } from '../../http/receive-request.ts';
import type { GateContext } from './gate-context.ts';
import type { GateCaller, GateOptions } from './gate-options.ts';
import type { CallerConnection } from './answer-call.ts';
import { makeRandomId } from '../../content/crypto.ts';

const defaultBodyBytes = 1_048_576;
const defaultSessions = 1_000;
const defaultSessionsPerPerson = 100;
const defaultIdleMs = 4 * 3_600_000;

/** Serves a gate over streamable HTTP: each request on its own in protocol 2026-07-28, and sessions for older clients. */
export class HttpGate {
  readonly #gate: GateContext;
  readonly #options: GateOptions;
  readonly #makeServer: (caller: GateCaller) => Server;
  readonly #sessions: HttpSessions;
  readonly #modern: McpHttpHandler;
  readonly #maximumBodyBytes: number;
  /* Keyed by request: the protocol's library passes it on. */
  readonly #callers = new WeakMap<Request, GateCaller>();
  readonly #connections = new WeakMap<Request, CallerConnection>();

  constructor(gate: GateContext, options: GateOptions, makeServer: (caller: GateCaller) => Server) {
    const { maximumSessions = defaultSessions, sessionIdleMs = defaultIdleMs } = options;
    const { maximumSessionsPerPerson = defaultSessionsPerPerson } = options;
    this.#gate = gate;
    this.#options = options;
    this.#makeServer = makeServer;
    this.#maximumBodyBytes = checkLimit(
      options.maximumBodyBytes ?? defaultBodyBytes,
      'maximumBodyBytes',
    );
    this.#sessions = new HttpSessions({
      maximum: checkLimit(maximumSessions, 'maximumSessions'),
      maximumPerPerson: checkLimit(maximumSessionsPerPerson, 'maximumSessionsPerPerson'),
      isSame: (one, other) => this.#isSame(one, other),
      idleMs: checkMs(sessionIdleMs, 'sessionIdleMs'),
      now: () => gate.agent.now(),
    });
    this.#modern = createMcpHandler(
      ({ requestInfo }) => {
        const caller = requestInfo && this.#callers.get(requestInfo);
        /* Without a caller, nobody is signed in. */
        if (caller === undefined) throw new Error('A request reached the gate without a caller.');
        return makeServer(caller);
      },
      { legacy: 'reject' },
    );
  }

  /** The connection of a request that is being served. */
  findConnection(request: Request): CallerConnection | undefined {
    return this.#connections.get(request);
  }

  /** Tells clients of protocol 2026-07-28 that the tools have changed. */
  notifyChange(): void {
    this.#modern.notify.toolsChanged();
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#sessions.close(), this.#modern.close()]);
  }

  /** Serves one request. */
  async handle(request: Request): Promise<Response> {
    const { authorize } = this.#options;
    if (authorize === undefined) {
      throw new TypeError(
        'gate.handler needs the option `authorize` of createGate, which decides who sent a request.',
      );
    }
    const foreign = refuseForeignOrigin(request, this.#options);
    if (foreign !== undefined) return foreign;
    const isPost = request.method === 'POST';
    const body = isPost ? await readJsonBody(request, this.#maximumBodyBytes) : { json: undefined };
    if (body instanceof Response) return body;
    const decide = async () => authorize({ request });
    const caller = await checkSignIn({ agent: this.#gate.agent }, decide, { name: 'this gate' });
    if (caller instanceof Response) return caller;
    if (this.#gate.closing.aborted) {
      return makeRefusalResponse(503, 'closing', 'The gate is closing. Send the request again.');
    }
    const { json: parsedBody } = body;
    if (Array.isArray(parsedBody) && parsedBody.length > mostMessages) {
      const message = `Send at most ${mostMessages} messages at once.`;
      return makeRefusalResponse(400, 'invalid-input', message);
    }
    const isOld = await isLegacyRequest(request, parsedBody);
    if (isOld) return this.#serveSession(request, caller, parsedBody);
    this.#callers.set(request, caller);
    return this.#connect(request, () => this.#modern.fetch(request, { parsedBody }));
  }

  async #serveSession(
    request: Request,
    caller: GateCaller,
    parsedBody: unknown,
  ): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session =
      id === null && isInitializeRequest(parsedBody)
        ? await this.#sessions.open(caller, this.#makeServer)
        : this.#findSession(id, caller);
    if (session instanceof Response) return session;
    if (session === undefined) {
      return makeRefusalResponse(
        503,
        'too-many-sessions',
        'All sessions, or all that one person may have, are in use. End one, or try later.',
      );
    }
    const given = parsedBody === undefined ? {} : { parsedBody };
    const requestIds = readRequestIds(parsedBody);
    const repeated = requestIds.find(
      (each, nth) => session.requestIds.has(each) || requestIds.indexOf(each) !== nth,
    );
    if (repeated !== undefined) {
      session.open -= 1;
      return makeRefusalResponse(
        400,
        'invalid-input',
        `A request of this session with the id ${JSON.stringify(repeated).slice(0, 100)} is being answered. Send another id.`,
      );
    }
    for (const each of requestIds) session.requestIds.add(each);
    const end = (): void => {
      session.open -= 1;
      for (const each of requestIds) session.requestIds.delete(each);
    };
    const serve = async (): Promise<Response> => {
      const response = await session.transport.handleRequest(request, given);
      /* Its client was refused, and has no session. */
      if (session.transport.sessionId === undefined) await this.#sessions.refuse(session);
      return response;
    };
    return this.#connect(request, serve, end);
  }

  /** Finds a session. It belongs to the person who opened it, at that place: for others it does not exist. */
  #findSession(id: string | null, { principal, place }: GateCaller): HttpSession | Response {
    if (id === null) {
      return makeRefusalResponse(
        400,
        'invalid-input',
        'A client of protocol 2025-11-25 or older must send initialize first, and then its Mcp-Session-Id.',
      );
    }
    const session = this.#sessions.use(
      id,
      ({ caller }) => caller.place === place && this.#isSame(caller.principal, principal),
    );
    return (
      session ?? makeRefusalResponse(404, 'not-found', 'Session not found. Initialize a new one.')
    );
  }

  #isSame(one: unknown, other: unknown): boolean {
    return findDoor(this.#gate.agent)?.people.isSame(one, other) === true;
  }

  /** Serves a request, and notices whether its response was read to the end or the client has disconnected. `onEnd` is called once. */
  async #connect(
    request: Request,
    serve: () => Promise<Response>,
    onEnd?: () => void,
  ): Promise<Response> {
    const gone = new AbortController();
    const sent = Promise.withResolvers<void>();
    let hasEnded = false;
    const end = (isSent: boolean): void => {
      if (hasEnded) return;
      hasEnded = true;
      if (isSent) sent.resolve();
      else gone.abort();
      onEnd?.();
    };
    this.#connections.set(request, { gone: gone.signal, sent: sent.promise });
    request.signal.addEventListener('abort', () => end(false), { once: true });
    /* The sign-in may have taken long. */
    if (request.signal.aborted) end(false);
    try {
      const response = await serve();
      if (response.body === null) end(true);
      return response.body === null ? response : watchBody(response, response.body, end);
    } catch (error) {
      end(false);
      throw error;
    }
  }
}

const mostMessages = 100;

const requestSchema = z.object({ method: z.string(), id: z.union([z.string(), z.number()]) });

/* The library answers by id: with two equal ids, the second request would get the first one's result. */
function readRequestIds(body: unknown): RequestId[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => requestSchema.safeParse(message).data?.id ?? []);
}

/** Watches the body of a response: reports if it was read to the end or cancelled. */
function watchBody(
  response: Response,
  body: ReadableStream<Uint8Array>,
  end: (isSent: boolean) => void,
): Response {
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end(true);
        return controller.close();
      } catch (error) {
        end(false);
        return controller.error(error);
      }
    },
    async cancel(reason) {
      end(false);
      await reader.cancel(reason);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
}

/** A session of a client of protocol 2025-11-25 or older: its owner, and the server that remembers it. */
interface HttpSession {
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
class HttpSessions {
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
