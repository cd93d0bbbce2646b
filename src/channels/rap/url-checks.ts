/** A URL that the app gives. Throws a `TypeError` for what is not http(s), and for one with a name or password in it. */
export function serverUrl(url: string | URL, what: string): URL {
  const parsed = URL.canParse(String(url)) ? new URL(url) : undefined;
  if (parsed !== undefined && isPlainHttp(parsed)) return parsed;
  throw new TypeError(`${what} must be an http(s) URL without a name and password.`);
}

/** Where a server takes what is not a call: below its base URL, which is where its endpoint is. */
export function routeUrl(route: string, endpoint: URL, baseUrl: string | URL | undefined): URL {
  const url = new URL(baseUrl === undefined ? endpoint : serverUrl(baseUrl, 'baseUrl'));
  const base = baseUrl === undefined ? url.pathname.replace(/[^/]*$/, '') : url.pathname;
  url.pathname = `${base.replace(/\/+$/, '')}/${route}`;
  return url;
}

/**
 * Where answers may be sent, of all that a tool server could name: the origins that the app lists, or else the endpoint's own. A
 * loopback address has three spellings, and all are the endpoint's.
 */
export function allowedOrigins(
  endpoint: URL,
  listed: readonly string[] | undefined,
): ReadonlySet<string> {
  if (listed === undefined) return new Set(spellingsOf(endpoint));
  return new Set(listed.map((origin) => serverUrl(origin, 'An allowed origin').origin));
}

/**
 * The URL, if answers may be sent there. Hosts are compared as the URL standard writes them, so that an address in decimal, octal,
 * hex or full-width digits is the address it is.
 */
export function allowedUrl(url: string, origins: ReadonlySet<string>): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed !== undefined && isPlainHttp(parsed) && origins.has(parsed.origin)
    ? parsed
    : undefined;
}

/** Whether it is a URL of the web, without a name and a password in it. */
export function isPlainHttp({ protocol, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const loopback = ['localhost', '127.0.0.1', '[::1]'];

function spellingsOf(endpoint: URL): string[] {
  if (!loopback.includes(endpoint.hostname)) return [endpoint.origin];
  return loopback.map((hostname) => {
    const spelling = new URL(endpoint);
    spelling.hostname = hostname;
    return spelling.origin;
  });
}

/* MERGED from rap/tool-server/own-url.ts */
import { isPlainHttp } from './url-checks.ts';

/**
 * Where the runtime reaches this server, without a slash at its end. By default that is on this machine: of what a request says of its host,
 * only the port is believed, so that nobody far away is sent the selections.
 */
export function ownUrl(baseUrl: string | URL | undefined): (request: Request) => string {
  if (baseUrl !== undefined) {
    const own = withoutEnd(baseUrl);
    return () => own;
  }
  return (request) => {
    const url = new URL(request.url);
    url.hostname = 'localhost';
    return withoutEnd(url);
  };
}

function withoutEnd(text: string | URL): string {
  const url = URL.parse(String(text));
  if (url === null || !isPlainHttp(url))
    throw new TypeError(`${String(text)} is no URL of the web.`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/* MERGED from rap/tool-server/callback-origins.ts */
import { isPlainHttp } from './url-checks.ts';

/** Whether callbacks may go to a URL of the web. Throws a `TypeError` for what is no origin. */
export function callbackOrigins(
  allowedOrigins: readonly string[] | undefined,
): (url: string) => boolean {
  const origins = allowedOrigins && new Set(allowedOrigins.map(originOf));
  return (url) => origins === undefined || origins.has(new URL(url).origin);
}

function originOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && isPlainHttp(url) && url.href === `${url.origin}/`) return url.origin;
  throw new TypeError(`${JSON.stringify(text)} is no origin, as https://agent.example.com is.`);
}
