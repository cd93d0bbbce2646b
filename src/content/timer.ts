/** Resolves after a time in milliseconds, or early if the signal aborts. */
export async function waitForTimer(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(handle);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const handle = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}
