import type { UpstreamOptions } from './upstream-options.ts';

/* A shorter value would hide parts of ordinary words. */
const shortest = 4;

/** Makes a function that masks the secrets of an upstream, its variables and headers, in reported texts. */
export function makeSecretMask(options: UpstreamOptions): (text: string) => string {
  const secrets = listSecrets(options).filter(({ length }) => length >= shortest);
  const forms = [...new Set(secrets.flatMap(listForms))];
  /* The longest first: one may be a part of another. */
  const longestFirst = forms.toSorted((one, other) => other.length - one.length);
  return (text) => longestFirst.reduce((shown, form) => shown.replaceAll(form, '…'), text);
}

function listSecrets(options: UpstreamOptions): string[] {
  if ('transport' in options) return [];
  if ('url' in options) {
    const { username, password, search, searchParams } = new URL(options.url);
    const headers = Object.values(options.headers ?? {});
    /* Such as the token after `Bearer`. */
    const parts = headers.flatMap((value) => value.split(/\s+/).slice(1));
    return [...headers, ...parts, username, password, search.slice(1), ...searchParams.values()];
  }
  const inherited = (options.inheritEnv ?? []).map((name) => process.env[name] ?? '');
  return [...Object.values(options.env ?? {}), ...inherited];
}

/** Lists a secret as it is, in JSON, in a URL, and in base64. */
function listForms(secret: string): string[] {
  const bytes = Array.from(new TextEncoder().encode(secret), (byte) => String.fromCodePoint(byte));
  const base64 = btoa(bytes.join('')).replaceAll('=', '');
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret.toWellFormed()),
    base64,
    base64.replaceAll('+', '-').replaceAll('/', '_'),
  ];
}
