import { isPlainHttp } from '../server-url.ts';

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
