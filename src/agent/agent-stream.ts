import { EventBuffer } from '../content/event-buffer.ts';
import type { ToolCall } from '../content/tool-call.ts';
import { freezeDeep } from '../json/json-value.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import type { AgentResponse } from './agent-response.ts';
import type { PreliminaryResult } from './calls/execute-call.ts';
import type { ModelDelta } from './model/streaming-model.ts';

/**
 * The events of a streamed run: the model's deltas and the preliminary results of tools, which are provisional; the thread's own events,
 * once durable; and at the end one `finish` or one `error`.
 */
export type AgentStreamEvent<CALL extends ToolCall = ToolCall, OUTPUT = unknown> =
  | ModelDelta
  | PreliminaryResult
  | ThreadEvent
  | StreamFinish<CALL, OUTPUT>
  | StreamError;

interface StreamFinish<CALL extends ToolCall, OUTPUT> {
  /** The run has ended. */
  type: 'finish';
  /** The response with which `run` would have resolved. */
  response: AgentResponse<CALL, OUTPUT>;
}

interface StreamError {
  /** The run has failed. */
  type: 'error';
  /** The error with which `run` would have rejected. */
  error: unknown;
}

/**
 * A streamed run. It starts when the first event or `response` is requested, and advances only as fast as it is read. Leaving the loop with
 * `break` aborts the run and waits for its end.
 */
export interface AgentStream<
  CALL extends ToolCall = ToolCall,
  OUTPUT = unknown,
> extends AsyncIterable<AgentStreamEvent<CALL, OUTPUT>, undefined> {
  /** The run's response; rejects as `agent.run` does. Without a reader the run still completes, and its events are dropped. */
  readonly response: Promise<AgentResponse<CALL, OUTPUT>>;
}

/** Emits a preliminary result; a slow reader gets only the latest of each call. */
export function pushPreliminary(
  feed: EventBuffer<AgentStreamEvent>,
  result: PreliminaryResult,
): void {
  feed.pushLatest(
    freezeDeep(result),
    (kept) => kept.type === 'tool-result' && kept.toolCallId === result.toolCallId,
  );
}

/** Performs the run: pushes its events into the buffer, and stops when the signal aborts. */
type StreamedWork = (
  feed: EventBuffer<AgentStreamEvent>,
  signal: AbortSignal,
) => Promise<AgentResponse>;

/** The stream of a run that has not started. */
export class RunStream implements AgentStream {
  readonly #work: StreamedWork;
  readonly #feed = new EventBuffer<AgentStreamEvent>();
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #response: Promise<AgentResponse> | undefined;

  constructor(work: StreamedWork, signal: AbortSignal | undefined) {
    this.#work = work;
    const stopped = this.#stop.signal;
    this.#signal = signal === undefined ? stopped : AbortSignal.any([signal, stopped]);
  }

  get response(): Promise<AgentResponse> {
    if (this.#response === undefined) {
      this.#response = this.#run();
      /* A reader of the events gets the error there. */
      this.#response.catch(() => {});
    }
    return this.#response;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentStreamEvent, undefined> {
    this.#feed.open();
    return {
      next: () => {
        void this.response;
        return this.#feed.next();
      },
      return: async () => {
        await this.#leave();
        return { done: true, value: undefined };
      },
    };
  }

  async #run(): Promise<AgentResponse> {
    try {
      const response = await this.#work(this.#feed, this.#signal);
      this.#feed.close({ type: 'finish', response });
      return response;
    } catch (error) {
      this.#feed.close({ type: 'error', error });
      throw error;
    }
  }

  async #leave(): Promise<void> {
    this.#feed.drop();
    this.#stop.abort(new DOMException('The reader left the stream.', 'AbortError'));
    await this.response.catch(() => {});
  }
}
