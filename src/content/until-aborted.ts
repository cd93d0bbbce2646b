/** The work's result, or the signal's reason as soon as it aborts; what the work comes to after that is dropped. */
export async function untilAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal | undefined,
): Promise<RESULT> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The work's result; nothing as soon as the signal aborts. */
export async function unlessAborted<RESULT>(
  work: Promise<RESULT>,
  signal: AbortSignal | undefined,
): Promise<RESULT | undefined> {
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    if (signal?.aborted === true) return undefined;
    throw error;
  }
}
