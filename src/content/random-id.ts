import { toBase64url } from './base64.ts';

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
