/** How a page finds out that a connection is dead which nobody has closed. */
export interface WatchOptions {
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Whether nothing more can come; asked whenever nothing has come for some time. */
  isOver: () => Promise<boolean>;
}

const silenceMs = 12_000;

/**
 * The response, whose body fails as a broken connection does once nothing comes and nothing can. Where a network is lost, or a proxy
 * keeps a stream whose server has died, a page would wait for ever.
 */
export function watchedResponse(response: Response, options: WatchOptions): Response {
  if (response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await readOrSilence(reader, options);
      if (read === undefined) {
        controller.error(new TypeError('network error: nothing comes any more'));
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
  { wait, isOver }: WatchOptions,
): Promise<Awaited<ReturnType<typeof reader.read>> | undefined> {
  const next = reader.read();
  next.catch(() => {});
  for (;;) {
    const waiting = new AbortController();
    const silence = wait(silenceMs, waiting.signal).then(() => undefined);
    const read = await Promise.race([next, silence]).finally(() => waiting.abort());
    if (read !== undefined) return read;
    /* What came while it was asked counts. */
    if (await isOver()) return Promise.race([next, Promise.resolve(undefined)]);
  }
}
