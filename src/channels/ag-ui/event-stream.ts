import { encode, encodeComment } from 'eventsource-encoder';
import type { PollingOptions } from '../../agent.ts';
import type { AgUiEvent } from './ag-ui-event.ts';

/** Options for keeping a silent stream open. */
export interface KeepAlive {
  /** In milliseconds; 0: no comments are sent. */
  keepAliveMs: number;
  wait: NonNullable<PollingOptions['wait']>;
}

interface Streamed {
  request: Request;
  backlog: EventBacklog;
  /** Aborted by the stream when the client disconnects. */
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
  /* A wait may reject when its signal aborts. */
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

/**
 * The events of a run that its client has not read yet, so that the run does not wait for the client. Consecutive deltas of a text are
 * joined. A client that is more than `limit` characters behind gets nothing more until the end, which then brings it up to date.
 */
export class EventBacklog {
  readonly #limit: number;
  #waiting: AgUiEvent[] = [];
  #length = 0;
  #isBehind = false;
  #isClosed = false;
  #wake = (): void => {};
  /** The events that end the client's open messages, the latest first. */
  #ends: AgUiEvent[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(events: readonly AgUiEvent[]): void {
    if (this.#isClosed || this.#isBehind) return;
    if (this.#length > this.#limit) this.#drop();
    else for (const event of events) this.#add(event);
    this.#wake();
  }

  /** Adds the last events of the run, whatever their length; `catchUp` is for a client that did not get all events. */
  finish(events: readonly AgUiEvent[], catchUp: () => readonly AgUiEvent[] = () => []): void {
    if (this.#isClosed) return;
    const isWhole = events.some(({ type }) => type === 'MESSAGES_SNAPSHOT');
    if (this.#isBehind) this.#waiting.push(...this.#ends, ...(isWhole ? [] : catchUp()));
    for (const event of events) this.#add(event);
    this.#isClosed = true;
    this.#wake();
  }

  /** The client has disconnected: drops everything. */
  leave(): void {
    this.#waiting = [];
    this.#isClosed = true;
    this.#wake();
  }

  /** Takes all unread events, as soon as there are any; an empty list if `silence` aborts before that, `undefined` at the end. */
  async take(silence?: AbortSignal): Promise<readonly AgUiEvent[] | undefined> {
    while (this.#waiting.length === 0) {
      if (this.#isClosed) return undefined;
      if (silence?.aborted === true) return [];
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        silence?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    const events = this.#waiting;
    this.#waiting = [];
    this.#length = 0;
    for (const event of events) this.#keepEnd(event);
    return events;
  }

  #add(event: AgUiEvent): void {
    const last = this.#waiting.at(-1);
    this.#length += measureEvent(event);
    const joined = last === undefined ? undefined : join(last, event);
    if (joined === undefined) this.#waiting.push(event);
    else this.#waiting[this.#waiting.length - 1] = joined;
  }

  #drop(): void {
    this.#isBehind = true;
    this.#waiting = this.#waiting.filter(({ type }) => type === 'RUN_STARTED');
  }

  #keepEnd(event: AgUiEvent): void {
    const end = makeEndEvent(event);
    if (end !== undefined) this.#ends.unshift(end);
    else this.#ends = this.#ends.filter((each) => !isEqual(each, event));
  }
}

function measureEvent(event: AgUiEvent): number {
  if ('delta' in event) return event.delta.length;
  return 'content' in event ? event.content.length : 100;
}

function join(last: AgUiEvent, next: AgUiEvent): AgUiEvent | undefined {
  if (!('messageId' in last && 'delta' in last && 'messageId' in next && 'delta' in next)) {
    return undefined;
  }
  const isSame = last.type === next.type && last.messageId === next.messageId;
  return isSame ? { ...last, delta: last.delta + next.delta } : undefined;
}

function makeEndEvent(event: AgUiEvent): AgUiEvent | undefined {
  switch (event.type) {
    case 'TEXT_MESSAGE_START':
      return { type: 'TEXT_MESSAGE_END', messageId: event.messageId };
    case 'REASONING_START':
      return { type: 'REASONING_END', messageId: event.messageId };
    case 'REASONING_MESSAGE_START':
      return { type: 'REASONING_MESSAGE_END', messageId: event.messageId };
    case 'TOOL_CALL_START':
      return { type: 'TOOL_CALL_END', toolCallId: event.toolCallId };
    case 'CUSTOM':
    case 'MESSAGES_SNAPSHOT':
    case 'REASONING_END':
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_END':
    case 'RUN_ERROR':
    case 'RUN_FINISHED':
    case 'RUN_STARTED':
    case 'STATE_SNAPSHOT':
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_END':
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_END':
    case 'TOOL_CALL_RESULT':
      return undefined;
  }
}

function isEqual(end: AgUiEvent, event: AgUiEvent): boolean {
  if (end.type !== event.type) return false;
  if ('toolCallId' in end) return 'toolCallId' in event && end.toolCallId === event.toolCallId;
  return 'messageId' in end && 'messageId' in event && end.messageId === event.messageId;
}
