import { randomId } from '../../../content/random-id.ts';
import type { Poster } from '../post-json.ts';
import { postUntilTaken } from '../post-with-retries.ts';

/** Sends one message to a runtime; rejects when it could not be delivered, or `signal` aborts. */
export type SendCallback = (url: string, message: object, signal: AbortSignal) => Promise<void>;

const longestPauseMs = 60_000;

/** Sends messages, each under an id of its own. */
export function callbackSender(poster: Poster, retries: number): SendCallback {
  return async function sendCallback(url, body, signal) {
    const post = { id: `msg_${randomId()}`, url, body, signal };
    await postUntilTaken(poster, post, {
      retries,
      pauseMs: (retried) => Math.min(1_000 * 2 ** retried, longestPauseMs),
      wait: poster.timer,
      fault: 'The runtime did not take the message',
    });
  };
}
