/** A clock that a test moves, for everything that takes a `wait`. */
export function virtualClock() {
  let now = 0;
  const timers = new Set<{ at: number; end: () => void }>();
  const wait = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timers.delete(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = { at: now + milliseconds, end };
      timers.add(timer);
      signal.addEventListener('abort', end, { once: true });
    });
  };
  /** Lets everything happen that happens by itself before `milliseconds` have passed. */
  const pass = async (milliseconds: number): Promise<void> => {
    const until = now + milliseconds;
    for (;;) {
      await settle();
      const next = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      now = Math.max(now, next.at);
      next.end();
    }
    now = until;
  };
  return { wait, pass, now: () => now };
}

/* The AI SDK begins some of its work in timers of 0 ms, so that these have to pass too. */
async function settle(): Promise<void> {
  for (let timers = 0; timers < 2; timers += 1) {
    for (let turns = 0; turns < 12; turns += 1) await new Promise(setImmediate);
    await new Promise((resolve) => setTimeout(resolve));
  }
}
