import { z } from 'zod';
import { makeRandomId } from '../../content/crypto.ts';
import { readJsonBody } from '../../http/read-json-body.ts';
import { guardLocalPage, type LocalPage, type PageSessions } from './local-guard.ts';
import type { LocalKey } from './local-key.ts';
import { type LocalServer, PortTaken, serveLocally } from './local-server.ts';

/** The port of the page by default. */
export const defaultPagePort = 4646;

/** A link to the page. */
interface PageLink {
  /** The address, with a token that counts once and soon expires. */
  url: string;
  /** True if a browser shows the page now. */
  isWatched: boolean;
}

/** The page of a gate, which one of the gates of a store and a name serves for all. */
export interface GatePage {
  /** An address that leads browsers which have opened a link before to the page. It grants no access, so anybody may read it. */
  readonly address: string;
  /** The command that prints a link, with the other options of the gate. */
  readonly linkCommand: string;
  /** Makes a link, by the gate that serves the page. */
  makeLink: () => Promise<PageLink>;
  close: () => Promise<void>;
}

/** The page's identity, and the way in which it is served. */
interface GatePageOptions {
  key: LocalKey;
  /** The name of the gate. */
  name: string;
  port: number;
  /** Makes what serves the page and everything below its path. */
  makeHandler: (path: string) => (request: Request) => Promise<Response>;
  /** Receives problems that keep a person from opening the page. */
  report: (problem: string) => void;
  now: () => number;
}

/* The interval at which a gate without a page checks whether the port is free. */
const takeOverMs = 1_000;
const tokenMs = 15 * 60_000;
const sessionMs = 7 * 24 * 3_600_000;
const handshakePath = '/holdpoint-gate';
const longestMessage = 4_096;

/** The command that prints a link to the page at this address. It names the port unless that is the one in the gate's options. */
function makeLinkCommand(host: string, port: number): string {
  const command = 'npx holdpoint gate --page';
  return host.endsWith(`:${port}`) ? command : `${command} --port ${host.replace(/^.*:/, '')}`;
}

/**
 * Serves the page, or finds the gate that serves it: the first that gets the port serves it for all gates of the store with this name, and
 * another one takes over when it ends. Browsers keep their access then. If another program has the port, this gate serves its own page on a
 * free one, and reports it.
 */
export async function openGatePage(options: GatePageOptions): Promise<GatePage> {
  const page = new SharedPage(options, await makePaths(options));
  await page.join();
  return page;
}

/** Asks the gate that serves the page for a link; `undefined` if no gate of this key and name does. */
export async function askForLink(
  options: Pick<GatePageOptions, 'key' | 'name' | 'port'>,
): Promise<PageLink | undefined> {
  return askOwner(options);
}

/** The paths of the page, and of its discovery by browsers; the same for all gates that serve it. */
interface PagePaths {
  /** Anybody who knows it can get the cookie, with a server on another port. Only links have it. */
  path: string;
  entrance: string;
}

async function makePaths({ key, name }: Pick<GatePageOptions, 'key' | 'name'>): Promise<PagePaths> {
  const makePath = async (purpose: string): Promise<string> =>
    `/inbox-${(await key.sign(purpose, name)).slice(0, 22)}`;
  return { path: await makePath('path'), entrance: await makePath('entrance') };
}

class SharedPage implements GatePage {
  readonly #options: GatePageOptions;
  readonly #paths: PagePaths;
  #server: LocalServer | undefined;
  #guard: LocalPage | undefined;
  #watchers = 0;
  #challenges = new Set<string>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(options: GatePageOptions, paths: PagePaths) {
    this.#options = options;
    this.#paths = paths;
  }

  get #host(): string {
    return this.#server?.host ?? `127.0.0.1:${this.#options.port}`;
  }

  get address(): string {
    return `http://${this.#host}${this.#paths.entrance}`;
  }

  get linkCommand(): string {
    return makeLinkCommand(this.#host, this.#options.port);
  }

  /** Serves the page, or finds the gate that does. */
  async join(): Promise<void> {
    const { port, report } = this.#options;
    for (let looks = 0; looks < 3; looks += 1) {
      if (await this.#serve(port)) return;
      if (await this.#isOwned()) {
        this.#timer ??= setInterval(() => void this.#takeOver(), takeOverMs).unref();
        return;
      }
    }
    report(
      `Port ${port} is in use, and not by a gate of this store with this name. Choose another one with --port.`,
    );
    await this.#serve(0);
  }

  async makeLink(): Promise<PageLink> {
    if (this.#guard !== undefined) return this.#makeOwnLink(this.#guard);
    const link = await askOwner(this.#options);
    if (link !== undefined) return link;
    /* The gate that served it has ended. */
    await this.join();
    if (this.#guard !== undefined) return this.#makeOwnLink(this.#guard);
    const again = await askOwner(this.#options);
    if (again === undefined) throw new Error('No gate serves the page.');
    return again;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#server?.close();
  }

  async #makeOwnLink(guard: LocalPage): Promise<PageLink> {
    return { url: await guard.makeUrl(), isWatched: this.#watchers > 0 };
  }

  async #isOwned(): Promise<boolean> {
    return (await greetOwner(this.#options)) !== undefined;
  }

  async #takeOver(): Promise<void> {
    if (!(await this.#serve(this.#options.port))) return;
    clearInterval(this.#timer);
    if (this.#isClosed) await this.#server?.close();
  }

  /** Serves the page on this port. Resolves whether the port was free. */
  async #serve(port: number): Promise<boolean> {
    if (this.#server !== undefined) return true;
    try {
      this.#server = await serveLocally(port, (host) => this.#makeHandler(host));
      return true;
    } catch (error) {
      if (error instanceof PortTaken) return false;
      throw error;
    }
  }

  #makeHandler(host: string): (request: Request) => Promise<Response> {
    const { key, name, port, now, makeHandler } = this.#options;
    const handle = makeHandler(this.#paths.path);
    const guard = guardLocalPage({
      host,
      ...this.#paths,
      handle: (request) => this.#watch(request, handle),
      advice: `Run "${makeLinkCommand(host, port)}" with the other options of your gate, and open the address that it prints.`,
      sessions: makeSessions(key, name, now),
      tokenMs,
      now,
    });
    this.#guard = guard;
    return async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname !== handshakePath || request.headers.get('host') !== host)
        return guard.serve(request);
      return this.#answerGate(request, host, guard);
    };
  }

  /** Counts the browsers that follow the changes. */
  async #watch(
    request: Request,
    handle: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    if (
      new URL(request.url).pathname === `${this.#paths.path}/api/changes` &&
      !request.signal.aborted
    ) {
      this.#watchers += 1;
      request.signal.addEventListener('abort', () => (this.#watchers -= 1), { once: true });
    }
    return handle(request);
  }

  /** Proves to another gate that this one has the key, and gives it a link if it proves the same. */
  async #answerGate(request: Request, host: string, guard: LocalPage): Promise<Response> {
    const body = await readJsonBody(request, longestMessage);
    const message = messageSchema.safeParse(body instanceof Response ? undefined : body.json).data;
    if (message === undefined) return new Response(null, { status: 400 });
    const { key, name } = this.#options;
    if ('greeting' in message) {
      const challenge = makeRandomId();
      const [oldest] = this.#challenges;
      if (this.#challenges.size >= 100 && oldest !== undefined) this.#challenges.delete(oldest);
      this.#challenges.add(challenge);
      const proof = await key.sign('owner', name, host, message.greeting, challenge);
      return Response.json({ challenge, proof });
    }
    const { challenge, proof } = message;
    const isOurs =
      this.#challenges.delete(challenge) &&
      (await key.isSigned(proof, 'guest', name, host, challenge));
    if (!isOurs) return new Response(null, { status: 403 });
    return Response.json(await this.#makeOwnLink(guard));
  }
}

const messageSchema = z.union([
  z.strictObject({ greeting: z.string().min(22).max(100) }),
  z.strictObject({ challenge: z.string(), proof: z.string() }),
]);
const greetedSchema = z.object({ challenge: z.string(), proof: z.string() });
const linkSchema = z.object({ url: z.url(), isWatched: z.boolean() });

/** The challenge of the gate that serves the page; `undefined` if that gate has another key or name. */
async function greetOwner({
  key,
  name,
  port,
}: Pick<GatePageOptions, 'key' | 'name' | 'port'>): Promise<string | undefined> {
  const greeting = makeRandomId();
  const answered = greetedSchema.safeParse(await sendMessage(port, { greeting }));
  if (!answered.success) return undefined;
  const { challenge, proof } = answered.data;
  const host = `127.0.0.1:${port}`;
  const isOurs = await key.isSigned(proof, 'owner', name, host, greeting, challenge);
  return isOurs ? challenge : undefined;
}

async function askOwner(
  options: Pick<GatePageOptions, 'key' | 'name' | 'port'>,
): Promise<PageLink | undefined> {
  const { key, name, port } = options;
  const challenge = await greetOwner(options);
  if (challenge === undefined) return undefined;
  const host = `127.0.0.1:${port}`;
  const proof = await key.sign('guest', name, host, challenge);
  const { data } = linkSchema.safeParse(await sendMessage(port, { challenge, proof }));
  return data?.url.startsWith(`http://${host}/`) === true ? data : undefined;
}

/** The answer of the program that has the port, if it is JSON. */
async function sendMessage(port: number, message: object): Promise<unknown> {
  const url = `http://127.0.0.1:${port}${handshakePath}`;
  const headers = { 'content-type': 'application/json' };
  try {
    const signal = AbortSignal.timeout(2_000);
    const body = JSON.stringify(message);
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
    const answered = new Request(url, {
      method: 'POST',
      headers,
      body: response.body,
      duplex: 'half',
    });
    const read = await readJsonBody(answered, longestMessage);
    return read instanceof Response ? undefined : read.json;
  } catch {
    return undefined;
  }
}

/** Cookies that every gate with the key accepts. */
function makeSessions(key: LocalKey, name: string, now: () => number): PageSessions {
  return {
    lifeMs: sessionMs,
    make: async () => {
      const endsAt = String(now() + sessionMs);
      return `${endsAt}.${await key.sign('session', name, endsAt)}`;
    },
    isValid: async (value) => {
      const [endsAt = '', signature = ''] = value.split('.');
      return now() < Number(endsAt) && key.isSigned(signature, 'session', name, endsAt);
    },
  };
}
