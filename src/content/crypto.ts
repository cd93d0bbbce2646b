import { toBase64url } from '../json/base64.ts';

/* Made in batches: a system call for each id would take ten times as long as the id itself. */
const idsPerDraw = 64;
const pool: string[] = [];

/** 128 random bits as 22 characters of base64url. */
export function makeRandomId(): string {
  if (pool.length === 0) fillPool();
  return pool.pop() ?? makeRandomId();
}

function fillPool(): void {
  const bytes = crypto.getRandomValues(new Uint8Array(16 * idsPerDraw));
  for (let start = 0; start < bytes.length; start += 16) {
    pool.push(toBase64url(bytes.subarray(start, start + 16)));
  }
}

/* Node's one-shot hash takes under a microsecond. WebCrypto, for other platforms, uses a thread pool. */
const startCrypto = () => globalThis.process?.getBuiltinModule?.('node:crypto');
let nodeCrypto: ReturnType<typeof startCrypto>;

/** The SHA-256 of a text, as base64url. */
export function hashText(text: string): string | Promise<string> {
  /* At the first hash, because Node takes about 8 ms to start the module, which importing this one should not cost. */
  nodeCrypto ??= startCrypto();
  return nodeCrypto === undefined
    ? hashWithWebCrypto(text)
    : nodeCrypto.hash('sha256', text, 'base64url');
}

async function hashWithWebCrypto(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return toBase64url(new Uint8Array(digest));
}
