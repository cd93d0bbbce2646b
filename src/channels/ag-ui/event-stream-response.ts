import { encode, encodeComment } from 'eventsource-encoder';
import type { PollingOptions } from '../../agent/follow-thread.ts';
import type { AgUiEvent } from './output/ag-ui-event.ts';
import type { EventBacklog } from './event-backlog.ts';

/** How a stream that has nothing to tell is kept open. */
export interface KeepAlive {
  /** In milliseconds; 0: it is not. */
  keepAliveMs: number;
  wait: NonNullable<PollingOptions['wait']>;
}

interface Streamed {
  request: Request;
  backlog: EventBacklog;
  /** Aborted here when the client has left. */
  gone: AbortController;
  headers: Record<string, string> | undefined;
  keepAlive: KeepAlive;
}

/** The response that brings what is in an outbox. Servers say in two ways that a client has left: they cancel the body, or abort the request. */
export function eventStreamResponse(streamed: Streamed): Response {
  const { request, backlog, gone, headers, keepAlive } = streamed;
  const leave = (): void => {
    backlog.leave();
    gone.abort(new DOMException('The client has gone.', 'AbortError'));
  };
  if (request.signal.aborted) leave();
  else request.signal.addEventListener('abort', leave, { once: true });
  return new Response(bytesOf(backlog, keepAlive, leave), {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

function bytesOf(
  backlog: EventBacklog,
  keepAlive: KeepAlive,
  onLeave: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      /* Asked for by who reads: of who does not, nothing is kept, and no time is taken. */
      async pull(controller) {
        const events = await takeOrQuiet(backlog, keepAlive);
        if (events === undefined) controller.close();
        else controller.enqueue(encoder.encode(textOf(events)));
      },
      cancel: onLeave,
    },
    { highWaterMark: 0 },
  );
}

/** What is there to tell; nothing when it has been quiet for so long, `undefined` at the end. */
async function takeOrQuiet(
  backlog: EventBacklog,
  { keepAliveMs, wait }: KeepAlive,
): Promise<readonly AgUiEvent[] | undefined> {
  if (keepAliveMs === 0) return backlog.take();
  const quiet = new AbortController();
  const told = new AbortController();
  const ring = async (): Promise<void> => {
    await wait(keepAliveMs, told.signal);
    quiet.abort();
  };
  /* A wait may reject when its signal aborts: it is over. */
  ring().catch(() => {});
  try {
    return await backlog.take(quiet.signal);
  } finally {
    told.abort();
  }
}

function textOf(events: readonly AgUiEvent[]): string {
  if (events.length === 0) return encodeComment('keep-alive');
  return events.map((event) => encode({ data: JSON.stringify(event) })).join('');
}
