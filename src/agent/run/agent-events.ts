import { EventEmitter } from 'eventemitter3';
import { callGuarded } from '../../content/app-errors.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { copyPlain, freezeDeep } from '../../json/json-value.ts';
import { type CallPlace, pickToolCall, type ToolCall } from '../../content/tool-call.ts';
import type { ThreadEvent, ThreadEventOf, ThreadEventType } from '../../thread/thread-event.ts';
import { findAnyCall, type ThreadState } from '../../thread/thread-state.ts';
import { traceFailure } from '../../thread/tracing.ts';

/** An event of a thread, as listeners receive it. */
interface AgentEvent<TYPE extends ThreadEventType = ThreadEventType> {
  /** The thread that the event was appended to. */
  threadId: string;
  /** The event as stored in the log, which names a call by its `step` and `index`. */
  event: ThreadEventOf<TYPE>;
  /** The call that the event is about: its id, its tool and its input. `undefined` for an event that is not about a call. */
  toolCall: ThreadEventOf<TYPE> extends CallPlace ? ToolCall : ToolCall | undefined;
}

/**
 * The events that listeners receive, by type: those of threads, once they are durable, and faults of the app's settings, which no log has.
 */
export type AgentEvents = {
  [TYPE in ThreadEventType]: AgentEvent<TYPE>;
} & { 'setting-failed': SettingFailure };

/** A listener that throws or rejects is ignored: it can't stop a run. */
export type AgentListener<TYPE extends keyof AgentEvents> = (event: AgentEvents[TYPE]) => unknown;

/** The place of the call that an event is about. */
function findPlace(event: ThreadEvent): CallPlace | undefined {
  if ('index' in event) return event;
  return event.type === 'request-opened' ? (event.place ?? event.beside) : undefined;
}

type AnyEvent = AgentEvent | SettingFailure;

function isOfType<TYPE extends keyof AgentEvents>(
  event: AnyEvent,
  type: TYPE,
): event is AnyEvent & AgentEvents[TYPE] {
  return 'event' in event ? event.event.type === type : type === 'setting-failed';
}

/** Emits the events that an agent has appended to its threads, and the faults of its settings. */
export class AgentEmitter {
  readonly #emitter = new EventEmitter<Record<keyof AgentEvents, [event: AnyEvent]>>();
  /* A map, because an emitter would have the id of each thread as another name of an event. */
  readonly #watchers = new Map<string, Set<() => void>>();

  /** Calls `listener` for each event of a type; the returned function removes it. */
  on<TYPE extends keyof AgentEvents>(type: TYPE, listener: AgentListener<TYPE>): () => void {
    /* The emitter ends an emit at the first listener that throws. */
    const receive = (event: AnyEvent): void => {
      if (isOfType(event, type)) void callGuarded(listener, event);
    };
    this.#emitter.on<keyof AgentEvents>(type, receive);
    return () => void this.#emitter.off<keyof AgentEvents>(type, receive);
  }

  /** Calls `onNews` when a thread was answered or asked to stop; the returned function ends that. */
  watch(threadId: string, onNews: () => void): () => void {
    const watchers = this.#watchers.get(threadId) ?? new Set();
    this.#watchers.set(threadId, watchers.add(onNews));
    return () => {
      watchers.delete(onNews);
      if (watchers.size === 0) this.#watchers.delete(threadId);
    };
  }

  /** Emits the events that were appended to a thread. */
  emit(state: Readonly<ThreadState>, events: readonly ThreadEvent[]): void {
    for (const event of events) {
      if (event.type === 'request-answered' || event.type === 'stop-requested')
        this.#watchers.get(state.threadId)?.forEach((onNews) => onNews());
      if (this.#emitter.listenerCount(event.type) === 0) continue;
      const place = findPlace(event);
      const call = place && findAnyCall(state, place);
      this.#emitter.emit(event.type, {
        threadId: state.threadId,
        event: freezeDeep(event),
        toolCall: call && freezeDeep(pickToolCall(call)),
      });
    }
  }

  /** Emits a fault of a setting. Returns whether there is a listener. */
  emitFailure(failure: SettingFailure): boolean {
    return this.#emitter.emit('setting-failed', failure);
  }
}

/**
 * Reports the faults of an agent's settings: to its listeners, to tracing, and as a warning in the console, once for each setting and kind
 * of fault. Where `NODE_ENV` is `production`, the console gets it only if there is no listener, and not the error of the setting.
 */
export function makeFailureReporter(
  agentName: string | undefined,
  events: AgentEmitter,
): (failure: SettingFailure) => void {
  const warned = new Set<string>();
  return ({ toolCall, ...fault }) => {
    const call = toolCall && { ...toolCall, input: copyPlain(toolCall.input) };
    const failure = { ...fault, toolCall: call };
    const isHeard = events.emitFailure(failure);
    traceFailure(agentName, failure);
    const { setting, kind, problem, error } = failure;
    const key = `${kind} ${setting}`;
    const isProduction = globalThis.process?.env['NODE_ENV'] === 'production';
    if (warned.has(key) || (isProduction && isHeard)) return;
    warned.add(key);
    const agent = agentName === undefined ? '' : ` of agent '${agentName}'`;
    console.warn(
      `holdpoint: ${setting}${agent}: ${problem}`,
      ...[isProduction ? undefined : error].filter(Boolean),
    );
  };
}
