import { useEffect, useState } from 'react';

const minute = 60_000;

/** The time, in steps as fine as the distance to `at` is told in. */
export function useNow(at: number): number {
  const [now, setNow] = useState(Date.now);
  const everyMs = Math.abs(at - now) < 2 * minute ? 1_000 : minute / 2;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Whether a request can't be answered any more. */
export function useIsExpired({
  expiresAt = Infinity,
}: {
  expiresAt?: number | undefined;
}): boolean {
  return useNow(expiresAt) >= expiresAt;
}
