import type { AgUiEvent } from './output/ag-ui-event.ts';

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
  /** The events that end what the client has open, the latest first. */
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

  /** All unread events, as soon as there are any; an empty list if `silence` aborts before that, `undefined` at the end. */
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
    const end = endEvent(event);
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

function endEvent(event: AgUiEvent): AgUiEvent | undefined {
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
