import { toBase64url } from './base64.ts';

/* Made many at once: the call into the system, and what is slow when it is rarely done, cost ten times what an id does. */
const idsPerDraw = 64;
const pool: string[] = [];

/** 128 random bits as 22 characters of base64url. */
export function randomId(): string {
  if (pool.length === 0) fillPool();
  return pool.pop() ?? randomId();
}

function fillPool(): void {
  const bytes = crypto.getRandomValues(new Uint8Array(16 * idsPerDraw));
  for (let start = 0; start < bytes.length; start += 16) {
    pool.push(toBase64url(bytes.subarray(start, start + 16)));
  }
}
