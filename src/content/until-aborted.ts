/** Resolves with the result of the work, or rejects with the signal's reason once it aborts. A later result is ignored. */
export function awaitUntilAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal | undefined,
): Promise<RESULT> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const settle = async (): Promise<void> => {
      try {
        resolve(await work);
      } catch (error) {
        reject(error);
      } finally {
        signal.removeEventListener('abort', abort);
      }
    };
    void settle();
  });
}

/** Resolves with the result of the work, or with `undefined` once the signal aborts. */
export async function awaitUnlessAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal | undefined,
): Promise<RESULT | undefined> {
  try {
    return await awaitUntilAborted(work, signal);
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
}
