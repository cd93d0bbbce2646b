import { refusal } from './error-response.ts';

/** What an app says of the pages that may use a route. */
export interface OriginOptions {
  /**
   * The origins of pages that may use the route beside those of its own host, such as `https://app.example`. Default none. What such a
   * page needs of CORS your framework sends.
   */
  allowedOrigins?: readonly string[];
}

/** Throws a `TypeError` for an origin that is none of the web. */
export function checkOrigins({ allowedOrigins = [] }: OriginOptions): void {
  for (const origin of allowedOrigins) {
    if (originOf(origin) === undefined) {
      throw new TypeError(`allowedOrigins has ${JSON.stringify(origin)}, which is no http(s) URL.`);
    }
  }
}

/**
 * The response that sends a page of another site away: 403, `foreign-origin`. Browsers name the origin of a page with every POST; what
 * comes from no page names none, and is let through.
 */
export function foreignOrigin(
  { headers, url }: Request,
  { allowedOrigins = [] }: OriginOptions,
): Response | undefined {
  const named = headers.get('origin');
  /* No page can set it: what it says holds behind any proxy. */
  if (named === null || headers.get('sec-fetch-site') === 'same-origin') return undefined;
  const origin = originOf(named);
  if (origin !== undefined && allowedOrigins.some((each) => originOf(each) === origin)) {
    return undefined;
  }
  const own = [headers.get('x-forwarded-host'), headers.get('host'), new URL(url).host];
  if (origin !== undefined && own.includes(new URL(origin).host)) return undefined;
  return refusal(403, 'foreign-origin', 'A page of another site may not use this route.');
}

function originOf(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) ? origin : undefined;
}
