/** How a dead connection that was never closed is detected. */
export interface DeadConnectionOptions {
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Whether no more data can arrive; called after each period of silence. */
  isOver: () => Promise<boolean>;
}

const silenceMs = 12_000;

/**
 * The response, with a body that fails like a broken connection when it is silent and no more data can arrive. Without this a page would
 * wait for ever after its network is lost, or behind a proxy that keeps the stream of a dead server open.
 */
export function detectDeadConnection(response: Response, options: DeadConnectionOptions): Response {
  if (response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await readOrSilence(reader, options);
      if (read === undefined) {
        controller.error(new TypeError('network error: the connection is silent'));
        await reader.cancel().catch(() => {});
      } else if (read.done) controller.close();
      else controller.enqueue(read.value);
    },
    cancel: async (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

async function readOrSilence(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { wait, isOver }: DeadConnectionOptions,
): Promise<Awaited<ReturnType<typeof reader.read>> | undefined> {
  const next = reader.read();
  next.catch(() => {});
  for (;;) {
    const waiting = new AbortController();
    const silence = wait(silenceMs, waiting.signal).then(() => undefined);
    const read = await Promise.race([next, silence]).finally(() => waiting.abort());
    if (read !== undefined) return read;
    /* Data may have arrived during the check. */
    if (await isOver()) return Promise.race([next, Promise.resolve(undefined)]);
  }
}
