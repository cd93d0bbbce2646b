import { encode } from 'eventsource-encoder';
import type { AgUiEvent } from './ag-ui-event.ts';
import type { Outbox } from './outbox.ts';

interface Streamed {
  request: Request;
  outbox: Outbox;
  /** Aborted here when the client has left. */
  gone: AbortController;
  headers: Record<string, string> | undefined;
}

/** The response that brings what is in an outbox. Servers say in two ways that a client has left: they cancel the body, or abort the request. */
export function eventStreamResponse({ request, outbox, gone, headers }: Streamed): Response {
  const leave = (): void => {
    outbox.leave();
    gone.abort(new DOMException('The client has gone.', 'AbortError'));
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  return new Response(bytesOf(outbox, leave), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

function bytesOf(outbox: Outbox, onLeave: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const events = await outbox.take();
        if (events === undefined) controller.close();
        else controller.enqueue(encoder.encode(events.map(frame).join('')));
      },
      cancel: onLeave,
    },
    { highWaterMark: 0 },
  );
}

function frame(event: AgUiEvent): string {
  return encode({ data: JSON.stringify(event) });
}
