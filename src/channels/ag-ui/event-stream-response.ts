import { encode, encodeComment } from 'eventsource-encoder';
import type { PollingOptions } from '../../agent/follow-thread.ts';
import type { AgUiEvent } from './output/ag-ui-event.ts';
import type { EventBacklog } from './event-backlog.ts';

/** How a silent stream is kept open. */
export interface KeepAlive {
  /** In milliseconds; 0: no comments are sent. */
  keepAliveMs: number;
  wait: NonNullable<PollingOptions['wait']>;
}

interface Streamed {
  request: Request;
  backlog: EventBacklog;
  /** Aborted here when the client disconnects. */
  disconnected: AbortController;
  headers: Record<string, string> | undefined;
  keepAlive: KeepAlive;
}

/**
 * The response that streams a backlog. A server reports that a client has disconnected in one of two ways: it cancels the body, or aborts
 * the request.
 */
export function makeEventStreamResponse(streamed: Streamed): Response {
  const { request, backlog, disconnected, headers, keepAlive } = streamed;
  const leave = (): void => {
    backlog.leave();
    disconnected.abort(new DOMException('The client has disconnected.', 'AbortError'));
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  return new Response(streamBytes(backlog, keepAlive, leave), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

function streamBytes(
  backlog: EventBacklog,
  keepAlive: KeepAlive,
  onLeave: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      /* Pull-based: without a reader nothing is buffered, and no timer runs. */
      async pull(controller) {
        const events = await takeUntilSilence(backlog, keepAlive);
        if (events === undefined) controller.close();
        else controller.enqueue(encoder.encode(writeEvents(events)));
      },
      cancel: onLeave,
    },
    { highWaterMark: 0 },
  );
}

/** The unread events; an empty list after `keepAliveMs` of silence, `undefined` at the end. */
async function takeUntilSilence(
  backlog: EventBacklog,
  { keepAliveMs, wait }: KeepAlive,
): Promise<readonly AgUiEvent[] | undefined> {
  if (keepAliveMs === 0) return backlog.take();
  const silence = new AbortController();
  const taken = new AbortController();
  const startTimer = async (): Promise<void> => {
    await wait(keepAliveMs, taken.signal);
    silence.abort();
  };
  /* A wait may reject when its signal aborts, because it is over. */
  startTimer().catch(() => {});
  try {
    return await backlog.take(silence.signal);
  } finally {
    taken.abort();
  }
}

function writeEvents(events: readonly AgUiEvent[]): string {
  if (events.length === 0) return encodeComment('keep-alive');
  return events.map((event) => encode({ data: JSON.stringify(event) })).join('');
}
