/** A URL from the app's options. Throws a `TypeError` if it is not http(s), or has a user name or password. */
export function parseServerUrl(url: string | URL, what: string): URL {
  const parsed = parsePlainHttp(String(url));
  if (parsed !== undefined) return parsed;
  throw new TypeError(`${what} must be an http(s) URL without a user name and password.`);
}

/** The URL of a route of a tool server: below its base URL, by default the folder of its endpoint. */
export function makeRouteUrl(route: string, endpoint: URL, baseUrl: string | URL | undefined): URL {
  const url = new URL(baseUrl === undefined ? endpoint : parseServerUrl(baseUrl, 'baseUrl'));
  const base = baseUrl === undefined ? url.pathname.replace(/[^/]*$/, '') : url.pathname;
  url.pathname = `${base.replace(/\/+$/, '')}/${route}`;
  return url;
}

/**
 * The origins that answers may be sent to: those that the app lists, by default the endpoint's own. For a loopback endpoint
 * these are all three spellings of its host.
 */
export function listAllowedOrigins(
  endpoint: URL,
  listed: readonly string[] | undefined,
): ReadonlySet<string> {
  if (listed === undefined) return new Set(listSpellings(endpoint));
  return new Set(listed.map((origin) => parseServerUrl(origin, 'An allowed origin').origin));
}

/**
 * The URL if answers may be sent to it, else `undefined`. Hosts are compared as the URL standard writes them: an address in decimal,
 * octal, hex or full-width digits is the same address.
 */
export function parseAllowedUrl(url: string, origins: ReadonlySet<string>): URL | undefined {
  const parsed = parsePlainHttp(url);
  return parsed !== undefined && origins.has(parsed.origin) ? parsed : undefined;
}

/** The URL in a text; `undefined` if it is not http(s), or has a user name or password. */
export function parsePlainHttp(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username === '' && url.password === '' ? url : undefined;
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

function listSpellings(endpoint: URL): string[] {
  if (!loopback.includes(endpoint.hostname)) return [endpoint.origin];
  return loopback.map((hostname) => {
    const spelling = new URL(endpoint);
    spelling.hostname = hostname;
    return spelling.origin;
  });
}

/**
 * The URL at which a runtime reaches this tool server, without a trailing slash. The default is `localhost`: of the host in a request only
 * the port is used, as the sender could name any host to have the selections sent there.
 */
export function makeBaseUrlFinder(baseUrl: string | URL | undefined): (request: Request) => string {
  if (baseUrl !== undefined) {
    const own = trimTrailingSlash(baseUrl);
    return () => own;
  }
  return (request) => {
    const url = new URL(request.url);
    url.hostname = 'localhost';
    return trimTrailingSlash(url);
  };
}

function trimTrailingSlash(text: string | URL): string {
  const { origin, pathname } = parseServerUrl(text, 'baseUrl');
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** Checks whether callbacks may be sent to an http(s) URL. Throws a `TypeError` for a listed text that is not an origin. */
export function makeOriginCheck(listed: readonly string[] | undefined): (url: string) => boolean {
  const origins = listed && new Set(listed.map(parseOrigin));
  return (url) => origins === undefined || origins.has(new URL(url).origin);
}

function parseOrigin(text: string): string {
  const url = parsePlainHttp(text);
  if (url !== undefined && url.href === `${url.origin}/`) return url.origin;
  throw new TypeError(
    `${JSON.stringify(text)} in allowedOrigins is not an origin. Use one such as https://agent.example.com.`,
  );
}
