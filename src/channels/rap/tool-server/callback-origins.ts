import { isPlainHttp } from '../server-url.ts';

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
