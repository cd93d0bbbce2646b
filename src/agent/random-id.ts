/* Drawn for many ids at once: the call into the system costs ten times what the bytes do. */
const idsPerDraw = 64;
const pool = new Uint8Array(16 * idsPerDraw);
let next = pool.length;

/** 128 random bits as 22 characters of base64url. */
export function randomId(): string {
  if (next === pool.length) {
    crypto.getRandomValues(pool);
    next = 0;
  }
  const bytes = pool.subarray(next, next + 16);
  next += 16;
  const id = btoa(String.fromCharCode(...bytes));
  /* What was given out is not kept where a later bug could give it out again. */
  bytes.fill(0);
  return id.replaceAll('+', '-').replaceAll('/', '_').slice(0, 22);
}
