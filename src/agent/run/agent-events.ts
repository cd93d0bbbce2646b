import { EventEmitter } from 'eventemitter3';
import { callGuarded } from '../../content/call-guarded.ts';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import type { ThreadEvent, ThreadEventOf, ThreadEventType } from '../../thread/thread-event.ts';

/** An event of a thread, as listeners receive it. */
export interface AgentEvent<TYPE extends ThreadEventType = ThreadEventType> {
  threadId: string;
  event: ThreadEventOf<TYPE>;
}

/** Called after the event is durable. What it throws, or rejects with, is ignored: it can't stop a run. */
export type AgentListener<TYPE extends ThreadEventType> = (event: AgentEvent<TYPE>) => unknown;

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

  emit(threadId: string, events: readonly ThreadEvent[]): void {
    for (const event of events) {
      if (this.#emitter.listenerCount(event.type) === 0) continue;
      this.#emitter.emit(event.type, { threadId, event: deepFreeze(event) });
    }
  }
}
