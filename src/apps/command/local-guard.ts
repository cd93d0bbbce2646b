import { hashText, makeRandomId } from '../../content/crypto.ts';

/** A page that is only served on this machine, to the first user who opens its address. */
export interface LocalPage {
  /** Makes an address with a token that counts once. */
  makeUrl: () => Promise<string>;
  serve: (request: Request) => Promise<Response>;
}

/** The values of the cookie by which browsers that have opened the page are known. */
export interface PageSessions {
  /** The lifetime of a value, in milliseconds. Default: as long as the browser runs. */
  lifeMs?: number;
  make: () => Promise<string>;
  isValid: (value: string) => Promise<boolean>;
}

/** The settings of a page's guard. */
interface GuardedPage {
  host: string;
  path: string;
  /** A path that anybody may know, from which browsers that have opened the page find it. Default: none. */
  entrance?: string;
  handle: (request: Request) => Promise<Response>;
  /** Tells people without a valid address how to get one. */
  advice: string;
  /** The values of sessions. Default: one value, which only this guard knows. */
  sessions?: PageSessions;
  /** The lifetime of an address, in milliseconds after it was made. Default: no limit. */
  tokenMs?: number;
  now?: () => number;
}

/**
 * Guards a handler that is served at `host`, an address of this machine with its port. Every program and every user of the machine reaches
 * it, and every visited site can have its name point here (DNS rebinding). So only requests for `host` itself are taken; the first that
 * brings a token gets a cookie instead, and is sent to the address without it; the others need the cookie. Browsers send a cookie to every
 * port of a host. `path` must be unknown to programs that serve other ports, which then get none.
 */
export function guardLocalPage({
  host,
  path,
  entrance,
  handle,
  advice,
  sessions = makeOwnSession(),
  tokenMs = Infinity,
  now = Date.now,
}: GuardedPage): LocalPage {
  /* The time when each token expires, by its hash: the time of a look-up reveals nothing about the token. */
  const tokens = new Map<string, number>();
  const isSession = async (request: Request): Promise<boolean> => {
    const value = readCookie(request);
    return value !== undefined && (await sessions.isValid(value));
  };
  const spend = (token: string): boolean => {
    const endsAt = tokens.get(token);
    tokens.delete(token);
    return endsAt !== undefined && now() < endsAt;
  };
  const open = async (request: Request, given: string): Promise<Response> => {
    /* Also where there is a session already: otherwise the link would open the page for another person. */
    const isSpent = request.method === 'GET' && spend(await hashText(given));
    if (!isSpent && !(await isSession(request))) return refuse(`${used} ${advice}`);
    const value = `${cookieName}=${await sessions.make()}`;
    const life = sessions.lifeMs === undefined ? '' : `; Max-Age=${sessions.lifeMs / 1_000}`;
    const cookie = `${value}; HttpOnly; SameSite=Strict; Path=${path}${life}`;
    const headers = { 'set-cookie': cookie };
    if (entrance !== undefined) return storePath(entrance, path, headers);
    return new Response(null, { status: 303, headers: { location: path, ...headers } });
  };
  const answer = async (request: Request): Promise<Response> => {
    if (request.headers.get('host') !== host) return refuse(`This server is ${host} alone.`);
    const { pathname, searchParams } = new URL(request.url);
    const given = searchParams.get('token');
    if (given !== null) return open(request, given);
    if (pathname === entrance) return leadToPage(advice);
    if (!(await isSession(request))) return refuse(advice);
    return handle(omitSession(request));
  };
  return {
    makeUrl: async () => {
      for (const [token, endsAt] of tokens) if (endsAt <= now()) tokens.delete(token);
      const token = makeRandomId();
      tokens.set(await hashText(token), now() + tokenMs);
      return `http://${host}${path}?token=${token}`;
    },
    serve: async (request) => forbidKeeping(await answer(request)),
  };
}

/* The time of a comparison of digests reveals nothing about the secret. */
function makeOwnSession(): PageSessions {
  const session = makeRandomId();
  return {
    make: async () => session,
    isValid: async (value) => (await hashText(value)) === (await hashText(session)),
  };
}

const cookieName = 'holdpoint';
const used = 'This address was used before, is too old, or is wrong.';

function refuse(text: string): Response {
  return new Response(`${text}\n`, {
    status: 403,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });
}

function readCookie({ headers }: Request): string | undefined {
  const cookies = (headers.get('cookie') ?? '').split('; ');
  return cookies
    .find((cookie) => cookie.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1);
}

/* There is no proxy in front: headers that claim one are not trusted. */
function omitSession(request: Request): Request {
  const headers = new Headers(request.headers);
  for (const name of ['cookie', 'forwarded', 'x-forwarded-host']) headers.delete(name);
  return new Request(request, { headers });
}

function forbidKeeping(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set('cache-control', 'no-store');
  headers.set('referrer-policy', 'no-referrer');
  headers.set('cross-origin-resource-policy', 'same-origin');
  const { status, body } = response;
  return new Response(body, { status, headers });
}

/**
 * Has a browser store the path of the page of this entrance, and redirects it there. Browsers send a cookie to every port of a host, so that
 * a server on another port gets it at the path of the page, if it knows the path. What a browser stores stays with its own port. So the
 * entrance, which anybody may read, has no page: it redirects browsers that have stored the path.
 */
function storePath(entrance: string, path: string, headers: Record<string, string>) {
  const script = `localStorage.setItem(${JSON.stringify(entrance)}, ${JSON.stringify(path)}); location.replace(${JSON.stringify(path)} + location.hash);`;
  return makeScriptPage(script, '', headers);
}

/** Redirects a browser that has stored the path to the page. `advice` is text for others; it has no markup. */
function leadToPage(advice: string): Response {
  const script =
    'const path = localStorage.getItem(location.pathname); if (path !== null) location.replace(path + location.hash);';
  return makeScriptPage(script, advice, {});
}

function makeScriptPage(script: string, text: string, headers: Record<string, string>): Response {
  const nonce = makeRandomId();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
  return new Response(
    `<!doctype html>\n<meta charset="utf-8">\n<title>Inbox</title>\n<script nonce="${nonce}">${script}</script>\n<p>${text}\n`,
    {
      headers: {
        ...headers,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      },
    },
  );
}
