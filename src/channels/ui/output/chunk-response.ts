import { createUIMessageStreamResponse, type UIMessageChunk } from 'ai';
import { chunkStream, drain } from './chunk-stream.ts';

interface Streamed {
  request: Request;
  chunks: AsyncGenerator<UIMessageChunk, void>;
  /** Aborted here when the page has left. */
  gone: AbortController;
  headers: Record<string, string> | undefined;
}

/** The response that streams chunks. Servers say in two ways that a page has left: they cancel the body, or abort the request. */
export function chunkResponse({ request, chunks, gone, headers }: Streamed): Response {
  const leave = (): void => {
    gone.abort(new DOMException('The page has gone.', 'AbortError'));
    void drain(chunks);
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  const stream = chunkStream(chunks, leave);
  return createUIMessageStreamResponse({ stream, ...(headers === undefined ? {} : { headers }) });
}
