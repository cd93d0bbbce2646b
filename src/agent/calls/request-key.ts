/** Why a value can't be the key of a request; `undefined` if it can. */
export function whyNotKey(key: unknown): string | undefined {
  const isKey =
    typeof key === 'string' && key.length > 0 && key.length <= 256 && key.isWellFormed();
  return isKey ? undefined : 'A key must be a well-formed string of 1 to 256 characters';
}
