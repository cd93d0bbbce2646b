import { useEffect, useState } from 'react';

const minute = 60_000;

/** The current time, updated as often as the relative text of `at` can change. */
export function useNow(at: number): number {
  const [now, setNow] = useState(Date.now);
  const everyMs = Math.abs(at - now) < 2 * minute ? 1_000 : minute / 2;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Whether a request has expired. */
export function useIsExpired({
  expiresAt = Infinity,
}: {
  expiresAt?: number | undefined;
}): boolean {
  return useNow(expiresAt) >= expiresAt;
}
