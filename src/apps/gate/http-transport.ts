import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { fetchBounded } from './bounded-fetch.ts';
import type { HttpUpstream } from './upstream-options.ts';

/* The code for a process that has gone. */
const connectionClosed = -32_000;

/**
 * The connection to an upstream over HTTP. A request fails at once if its response ends without an answer: the library would wait for
 * another one.
 */
export class HttpTransport extends StreamableHTTPClientTransport {
  constructor({ url, headers }: HttpUpstream) {
    super(new URL(url), { requestInit: { headers: { ...headers } }, fetch: fetchBounded });
  }

  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: TransportSendOptions,
  ): Promise<void> {
    const requests = [message].flat().filter((each) => isJSONRPCRequest(each));
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      const error = { code: connectionClosed, message: 'The response ended without an answer.' };
      /* Answered requests are no longer known. */
      for (const { id } of requests) this.onmessage?.({ jsonrpc: '2.0', id, error });
    };
    await super.send(message, { ...options, onRequestStreamEnd });
  }
}
