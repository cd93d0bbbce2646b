import { isPlainObject } from './json-value.ts';

/** The value with well-formed text, also in its keys; the value itself if all its text is. */
export function mendText<VALUE>(value: VALUE): VALUE;
export function mendText(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  /* Bytes, URLs and the like have no text of their own. */
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  const mended: [string, unknown][] = [];
  let isSame = true;
  for (const [key, item] of Object.entries<unknown>(value)) {
    const newKey = key.toWellFormed();
    const newItem = mendText(item);
    isSame &&= newKey === key && newItem === item;
    mended.push([newKey, newItem]);
  }
  if (isSame) return value;
  return Array.isArray(value) ? mended.map(([, item]) => item) : Object.fromEntries(mended);
}
