import pRetry, { AbortError } from 'p-retry';
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
  const attempt = async (count: number): Promise<void> => {
    if (count > 1) await beforeRetry?.();
    signal.throwIfAborted();
    throwUnlessAccepted(await postJson(poster, post), fault);
  };
  await pRetry(attempt, {
    retries,
    signal,
    /* `shouldRetry` waits instead, so that tests can pass their own `wait`. */
    minTimeout: 0,
    async shouldRetry({ retriesConsumed }) {
      await wait(pauseMs(retriesConsumed), signal);
      return true;
    },
  });
}

function throwUnlessAccepted(posted: Posted, fault: string): void {
  if (posted.status === 'accepted') return;
  const cause = 'cause' in posted ? { cause: posted.cause } : {};
  const error = new Error(`${fault} (${posted.why}).`, cause);
  throw posted.status === 'refused' ? new AbortError(error) : error;
}
