import { EventEmitter } from 'eventemitter3';
import { callGuarded } from '../../content/call-guarded.ts';
import { type CallPlace, plainCall, type ToolCall } from '../../content/tool-call.ts';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import type { ThreadEvent, ThreadEventOf, ThreadEventType } from '../../thread/thread-event.ts';
import { callAt, type ThreadState } from '../../thread/thread-state.ts';

/** An event of a thread, as listeners receive it. */
export interface AgentEvent<TYPE extends ThreadEventType = ThreadEventType> {
  threadId: string;
  /** The event as it stands in the log, which names a call by its `step` and `index`. */
  event: ThreadEventOf<TYPE>;
  /** The call that the event is about: its id, its tool and its input. `undefined` for an event that is about no call. */
  toolCall: ThreadEventOf<TYPE> extends CallPlace ? ToolCall : ToolCall | undefined;
}

/** Called after the event is durable. What it throws, or rejects with, is ignored: it can't stop a run. */
export type AgentListener<TYPE extends ThreadEventType> = (event: AgentEvent<TYPE>) => unknown;

/** The place of the call that an event is about. */
function placeOf(event: ThreadEvent): CallPlace | undefined {
  if ('index' in event) return event;
  return event.type === 'request-opened' ? (event.place ?? event.beside) : undefined;
}

/** Emits the events that an agent has appended to its threads. */
export class AgentEvents {
  readonly #emitter = new EventEmitter<string, unknown>();

  /** Calls `listener` for each event of a type; the returned function removes it. */
  on<TYPE extends ThreadEventType>(type: TYPE, listener: AgentListener<TYPE>): () => void {
    const guarded = (event: AgentEvent<TYPE>) => {
      void callGuarded(listener, event);
    };
    this.#emitter.on(type, guarded);
    return () => {
      this.#emitter.off(type, guarded);
    };
  }

  /** Emits the events that were appended to a thread. */
  emit(state: Readonly<ThreadState>, events: readonly ThreadEvent[]): void {
    for (const event of events) {
      if (this.#emitter.listenerCount(event.type) === 0) continue;
      const place = placeOf(event);
      const call = place && callAt(state, place);
      this.#emitter.emit(event.type, {
        threadId: state.threadId,
        event: deepFreeze(event),
        toolCall: call && deepFreeze(plainCall(call)),
      });
    }
  }
}
