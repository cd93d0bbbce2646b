import { hashText, makeRandomId } from '../content/crypto.ts';

/** A page that is served on this machine alone, to whoever opens its address first. */
export interface LocalPage {
  /** The address, with a token that counts once. */
  url: string;
  serve: (request: Request) => Promise<Response>;
}

/**
 * Guards a handler that is served at `host`, an address of this machine with its port. Every program and every user of the machine reaches it, and
 * every site that somebody visits can have its name point here (DNS rebinding). So only requests for `host` itself are taken; the first that
 * brings the token gets a cookie instead, and is sent to the address without it; the others need the cookie.
 *
 * Browsers send a cookie to every port of a host. `path` should be unknown to the pages of other ports, which then get none.
 */
export function guardLocalPage({
  host,
  path,
  handle,
}: {
  host: string;
  path: string;
  handle: (request: Request) => Promise<Response>;
}): LocalPage {
  const token = makeRandomId();
  const session = makeRandomId();
  let isOpened = false;
  const isSession = async (request: Request): Promise<boolean> =>
    isOpened && (await isSame(readCookie(request), session));
  const open = async (request: Request, given: string): Promise<Response> => {
    if (!(await isSession(request))) {
      const isOurs = request.method === 'GET' && (await isSame(given, token));
      /* Looked at last: another request may have brought the token meanwhile. */
      if (!isOurs || isOpened) return refuse(used);
      isOpened = true;
    }
    const cookie = `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=${path}`;
    return new Response(null, { status: 303, headers: { location: path, 'set-cookie': cookie } });
  };
  const answer = async (request: Request): Promise<Response> => {
    if (request.headers.get('host') !== host) return refuse(`This server is ${host} alone.`);
    const given = new URL(request.url).searchParams.get('token');
    if (given !== null) return open(request, given);
    if (!(await isSession(request))) return refuse(notOpened);
    return handle(omitSession(request));
  };
  return {
    url: `http://${host}${path}?token=${token}`,
    serve: async (request) => forbidKeeping(await answer(request)),
  };
}

const cookieName = 'holdpoint';
const notOpened = 'Open the address that "npx holdpoint inbox" has printed.';
const used = 'This address was used before, or is wrong. Run "npx holdpoint inbox" again.';

function refuse(text: string): Response {
  return new Response(`${text}\n`, {
    status: 403,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  });
}

/* How long a comparison of digests takes says nothing about the secret. */
async function isSame(given: string | undefined, secret: string): Promise<boolean> {
  return given !== undefined && (await hashText(given)) === (await hashText(secret));
}

function readCookie({ headers }: Request): string | undefined {
  const cookies = (headers.get('cookie') ?? '').split('; ');
  return cookies
    .find((cookie) => cookie.startsWith(`${cookieName}=`))
    ?.slice(cookieName.length + 1);
}

/* No proxy is in front: what says so is not believed. */
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
