/** One piece of work; gives its figures in milliseconds. */
export type Work = () => Promise<readonly number[]>;

/** Somebody whose work is timed. */
export interface Competitor {
  /** Makes the conversations that the work begins with. Not timed; may be called again, so that a conversation does not grow for ever. */
  prepare(): Promise<Work>;
}

/** Work of which nothing but its time is of interest. */
export function timed(work: () => Promise<unknown>): Work {
  return async () => {
    const begin = performance.now();
    await work();
    return [performance.now() - begin];
  };
}
