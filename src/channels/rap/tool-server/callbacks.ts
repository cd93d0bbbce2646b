import pRetry, { AbortError } from 'p-retry';
import type { Signatures } from './signatures.ts';
import type { ToolServerOptions } from './tool-server-options.ts';

/** How callbacks are sent. */
interface CallbackOptions extends Required<
  Pick<ToolServerOptions, 'callbackMs' | 'fetch' | 'retries' | 'wait'>
> {
  signed: Signatures;
}

/** Sends one message to a runtime; rejects when it could not be delivered, or `signal` aborts. */
export type SendCallback = (url: string, message: object, signal: AbortSignal) => Promise<void>;

/**
 * Sends messages: again after 5xx or no answer, never after 4xx. Redirects are not followed, and what the runtime answers is not
 * read.
 */
export function callbackSender({
  callbackMs,
  fetch,
  retries,
  signed,
  wait,
}: CallbackOptions): SendCallback {
  return async function sendCallback(url, message, signal) {
    const body = JSON.stringify(message);
    const sign = signed.signer(body);
    await pRetry(() => post(url, body, sign(), signal), {
      retries,
      minTimeout: 0,
      signal,
      /* The waiting is ours, so that time can be given. */
      async shouldRetry({ retriesConsumed }) {
        await wait(Math.min(1_000 * 2 ** retriesConsumed, 60_000), signal);
        return true;
      },
    });
  };

  async function post(
    url: string,
    body: string,
    signature: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const over = new AbortController();
    const late = new AbortController();
    void wait(callbackMs, over.signal).then(() => late.abort());
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signature },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, late.signal]),
      });
      void response.body?.cancel().catch(() => {});
      if (!response.ok) throw refused(response.status);
    } catch (error) {
      if (error instanceof AbortError || error instanceof ServerFault) throw error;
      throw new Error('The runtime could not be reached.', { cause: error });
    } finally {
      over.abort();
    }
  }
}

class ServerFault extends Error {}

function refused(status: number): Error {
  const message = `The runtime answered ${status}.`;
  return status >= 500 ? new ServerFault(message) : new AbortError(message);
}
