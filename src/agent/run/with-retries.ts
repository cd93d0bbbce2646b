/* Milliseconds before each further try; together well under a lease. */
const pauses = [50, 200, 1_000, 5_000];

/** The work's result, tried again after growing pauses. Throws the last error, or the first that is `final`. */
export async function withRetries<RESULT>(
  work: () => Promise<RESULT>,
  isFinal: (error: unknown) => boolean,
): Promise<RESULT> {
  for (const pause of pauses) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error)) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
    }
  }
  return work();
}
