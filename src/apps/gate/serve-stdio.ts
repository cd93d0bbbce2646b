import type { Server, Transport } from '@modelcontextprotocol/server';

/**
 * Serves one client over standard input and output, or over `given`, until it has gone. `onError` gets the errors in its messages, which
 * may have ended the connection.
 */
export async function serveOverStdio(
  makeServer: () => Server,
  given: Transport | undefined,
  onError: (error: Error) => void,
): Promise<void> {
  /* Needs Node, unlike the rest of the gate. */
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const { transport, closed } = watchTransport(given ?? new StdioServerTransport(), onError);
  const handle = serveStdio(makeServer, { transport });
  await closed;
  await handle.close();
}

/** Watches when the transport closes, which `serveStdio` does not report. */
function watchTransport(
  inner: Transport,
  onError: (error: Error) => void,
): { transport: Transport; closed: Promise<void> } {
  const closed = Promise.withResolvers<void>();
  const transport: Transport = {
    start: () => inner.start(),
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  const onmessage: Transport['onmessage'] = (message, extra) =>
    transport.onmessage?.(message, extra);
  const onerror = (error: Error): void => {
    onError(error);
    transport.onerror?.(error);
  };
  const onclose = (): void => {
    transport.onclose?.();
    closed.resolve();
  };
  Object.assign(inner, { onmessage, onerror, onclose });
  return { transport, closed: closed.promise };
}
