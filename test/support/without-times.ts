const unequal = new Set([
  'at',
  'leaseUntil',
  'createdAt',
  'expiresAt',
  'retryAt',
  'recoverAt',
  'hash',
  'digest',
]);

/** Events as JSON without the times in them, nor the digests over these: for the comparison of two logs. */
export function withoutTimes(events: readonly unknown[]): unknown {
  const text = JSON.stringify(events, (key, value: unknown) =>
    unequal.has(key) ? undefined : value,
  );
  return JSON.parse(text);
}
