import { createUIMessageStreamResponse, type UIMessageChunk } from 'ai';

/** Makes a stream that produces each chunk only when it is read, and calls `onCancel` when its reader cancels it. */
export function makeChunkStream(
  chunks: AsyncGenerator<UIMessageChunk, void>,
  onCancel: () => void,
): ReadableStream<UIMessageChunk> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

/** Reads the remaining chunks after their reader has left: an unread run would never finish, and would hold its thread. */
export async function drain(chunks: AsyncGenerator<UIMessageChunk, void>): Promise<void> {
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    /* The run has recorded how it ended, and there is no reader for the error. */
  }
}

/** Puts back, at the beginning of `rest`, the event that was read from it. */
export async function* withFirst<EVENT>(
  first: IteratorResult<EVENT, undefined>,
  rest: AsyncIterator<EVENT, undefined>,
): AsyncGenerator<EVENT, void> {
  for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
}

interface Streamed {
  request: Request;
  chunks: AsyncGenerator<UIMessageChunk, void>;
  /** Aborted by the stream when the page disconnects. */
  disconnected: AbortController;
  headers: Record<string, string> | undefined;
}

/**
 * Makes the response that streams chunks. A server reports that a page has disconnected in one of two ways: it cancels the body, or aborts
 * the request.
 */
export function makeChunkResponse({ request, chunks, disconnected, headers }: Streamed): Response {
  const leave = (): void => {
    disconnected.abort(new DOMException('The page has disconnected.', 'AbortError'));
    void drain(chunks);
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  const stream = makeChunkStream(chunks, leave);
  return createUIMessageStreamResponse({ stream, ...(headers === undefined ? {} : { headers }) });
}
