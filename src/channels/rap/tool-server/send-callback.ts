import { makeRandomId } from '../../../content/random-id.ts';
import { type Poster, postWithRetries } from '../post-json.ts';
import type { Caller } from './running-calls.ts';

/** Sends a message to a runtime. Rejects if it could not be delivered or `signal` aborts. */
export type SendCallback = (url: string, message: object, signal: AbortSignal) => Promise<void>;

const longestPauseMs = 60_000;

/** Creates a `SendCallback` for a caller. It gives each message a new id, signs it for the caller, and retries it. */
export function makeCallbackSender(
  poster: Omit<Poster, 'signatures'>,
  retries: number,
): (caller: Caller) => SendCallback {
  return ({ signatures }) =>
    async (url, body, signal) => {
      const post = { id: `msg_${makeRandomId()}`, url, body, signal };
      await postWithRetries({ ...poster, signatures }, post, {
        retries,
        pauseMs: (retried) => Math.min(1_000 * 2 ** retried, longestPauseMs),
        wait: poster.timer,
        fault: 'The runtime did not accept the message',
      });
    };
}
