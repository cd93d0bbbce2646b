import pRetry, { AbortError } from 'p-retry';
import { type Post, type Posted, type Poster, postJson } from './post-json.ts';

/** How often a message is posted again, and what it is called when nobody takes it. */
interface Persistence {
  retries: number;
  /** How long to wait before a try, in milliseconds: after none, one, two … that were tries again. */
  pauseMs: (retried: number) => number;
  /** May reject when the signal aborts. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Where it rejects, the try has failed; it may abort the signal. */
  beforeRetry?: () => Promise<void>;
  /** What the error says before its reason. */
  fault: string;
}

/**
 * Posts a message until it is taken: again where the other side failed or is out of reach, never where it says no. Rejects with why
 * when it is given up, and with the signal's reason when that aborts.
 */
export async function postUntilTaken(
  poster: Poster,
  post: Post & { signal: AbortSignal },
  { retries, pauseMs, wait, beforeRetry, fault }: Persistence,
): Promise<void> {
  const { signal } = post;
  const attempt = async (count: number): Promise<void> => {
    if (count > 1) await beforeRetry?.();
    signal.throwIfAborted();
    refuseUntaken(await postJson(poster, post), fault);
  };
  await pRetry(attempt, {
    retries,
    signal,
    /* The waiting is ours, so that time can be given. */
    minTimeout: 0,
    async shouldRetry({ retriesConsumed }) {
      await wait(pauseMs(retriesConsumed), signal);
      return true;
    },
  });
}

function refuseUntaken(posted: Posted, fault: string): void {
  if (posted.status === 'taken') return;
  const cause = 'cause' in posted ? { cause: posted.cause } : {};
  const error = new Error(`${fault} (${posted.why}).`, cause);
  throw posted.status === 'refused' ? new AbortError(error) : error;
}
