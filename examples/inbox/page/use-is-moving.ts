import { useEffect, useState } from 'react';

const restMs = 400;

/**
 * Whether a list has just moved. A click that was meant for one card must not land on the one that has taken its place, as browsers' own
 * permission prompts see to it: nothing is approved before the list has rested.
 */
export function useIsMoving(order: string): boolean {
  const [restedAs, setRestedAs] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setRestedAs(order), restMs);
    return () => clearTimeout(timer);
  }, [order]);
  return restedAs !== order;
}
