/**
 * Freezes a value that is handed out, so that nothing outside changes the thread. Frozen values are not walked again, so each part of
 * a thread is frozen once, when it is first read. Bytes can't be frozen.
 */
export function freezeDeep<VALUE>(value: VALUE): VALUE {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof URL)
    return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
  return value;
}
