import { useEffect, useState } from 'react';

const restMs = 400;

/**
 * Whether a list has just moved. A click that was meant for one card must not hit the card that took its place: nothing can be approved
 * until the list has been still for a moment, as in the permission prompts of browsers.
 */
export function useIsMoving(order: string): boolean {
  const [restedAs, setRestedAs] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setRestedAs(order), restMs);
    return () => clearTimeout(timer);
  }, [order]);
  return restedAs !== order;
}
