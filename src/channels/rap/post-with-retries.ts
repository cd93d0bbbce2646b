import { type Post, type Posted, type Poster, postJson } from './post-json.ts';

/** How often and when a message is sent again, and the text of the error at the end. */
interface RetryOptions {
  retries: number;
  /** How long to wait before the next attempt, in milliseconds, after so many retries. */
  pauseMs: (retried: number) => number;
  /** May reject when the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Called before each retry. It may abort the signal; if it rejects, the attempt has failed. */
  beforeRetry?: () => Promise<void>;
  /** The beginning of the error message; the reason follows. */
  fault: string;
}

/**
 * Posts a message until it is accepted. Retries when the other side failed or can't be reached, never when it refused. Rejects with the
 * last failure after all retries, and with the signal's reason when that aborts.
 */
export async function postWithRetries(
  poster: Poster,
  post: Post & { signal: AbortSignal },
  { retries, pauseMs, wait, beforeRetry, fault }: RetryOptions,
): Promise<void> {
  const { signal } = post;
  for (let retried = 0; ; retried += 1) {
    signal.throwIfAborted();
    let posted: Posted | undefined;
    try {
      if (retried > 0) await beforeRetry?.();
      signal.throwIfAborted();
      posted = await postJson(poster, post);
      signal.throwIfAborted();
      if (posted.status === 'accepted') return;
      const { why, ...failure } = posted;
      throw new Error(`${fault} (${why}).`, 'cause' in failure ? { cause: failure.cause } : {});
    } catch (error) {
      signal.throwIfAborted();
      if (retried >= retries || posted?.status === 'refused') throw error;
    }
    await wait(pauseMs(retried), signal);
  }
}
