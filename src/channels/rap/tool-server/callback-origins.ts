/** Whether callbacks may go to a URL. Throws a `TypeError` for what is no origin. */
export function callbackOrigins(
  allowedOrigins: readonly string[] | undefined,
): (url: string) => boolean {
  const origins = allowedOrigins && new Set(allowedOrigins.map(originOf));
  return (text) => {
    const url = URL.parse(text);
    if (url === null || !isWeb(url) || url.username !== '' || url.password !== '') return false;
    return origins === undefined || origins.has(url.origin);
  };
}

/** Whether it is a URL of the web. */
export function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

function originOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && isWeb(url) && url.href === `${url.origin}/`) return url.origin;
  throw new TypeError(`${JSON.stringify(text)} is no origin, as https://agent.example.com is.`);
}
