import { makeRefusalResponse } from './error-response.ts';

/** Which pages may use a route. */
export interface OriginOptions {
  /**
   * The origins of pages that may use the route, in addition to its own host, such as `https://app.example`. Default: none. Your framework
   * must send the CORS headers for these pages.
   */
  allowedOrigins?: readonly string[];
}

/** Throws a `TypeError` for an allowed origin that is not an http(s) URL. */
export function checkOrigins({ allowedOrigins = [] }: OriginOptions): void {
  for (const origin of allowedOrigins) {
    if (readHttpOrigin(origin) === undefined) {
      throw new TypeError(
        `allowedOrigins has ${JSON.stringify(origin)}, which is not an http(s) URL.`,
      );
    }
  }
}

/**
 * The response that refuses a page of another site: 403, `foreign-origin`. Browsers send the page's origin with every POST; a request
 * without one does not come from a page and is allowed.
 */
export function refuseForeignOrigin(
  { headers, url }: Request,
  { allowedOrigins = [] }: OriginOptions,
): Response | undefined {
  const header = headers.get('origin');
  /* Pages can't set this header, and proxies don't change it. */
  if (header === null || headers.get('sec-fetch-site') === 'same-origin') return undefined;
  const origin = readHttpOrigin(header);
  if (origin !== undefined && allowedOrigins.some((each) => readHttpOrigin(each) === origin)) {
    return undefined;
  }
  const own = [headers.get('x-forwarded-host'), headers.get('host'), new URL(url).host];
  if (origin !== undefined && own.includes(new URL(origin).host)) return undefined;
  return makeRefusalResponse(
    403,
    'foreign-origin',
    'A page of another site may not use this route.',
  );
}

function readHttpOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) ? origin : undefined;
}
