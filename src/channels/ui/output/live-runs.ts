import type { Agent } from '../../../agent/agent.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { Provisional } from './turn-chunks.ts';

/** What happens in a run of this process, for pages that follow it. */
export type LiveEvent =
  /** The model streams the step of this number, or a tool yields a preliminary result before that step. */
  | { type: 'provisional'; step: number; event: Provisional }
  /** Events were recorded. */
  | { type: 'recorded' }
  /** The run has ended; provisional events that it did not record never count. */
  | { type: 'ended' };

type Listener = (event: LiveEvent) => void;

/** A thread that is run in this process, or followed by pages. */
interface LiveThread {
  /** The provisional events of the step that is not recorded yet, for pages that subscribe later. */
  provisional: Extract<LiveEvent, { type: 'provisional' }>[];
  listeners: Set<Listener>;
  /** How many runs and pages use this. */
  users: number;
}

type ThreadOpener = Pick<Agent, 'thread'>;

const threadsOf = new WeakMap<ThreadOpener, Map<string, LiveThread>>();

/** Yields the events of a run, and emits them to the pages that have subscribed. */
export async function* broadcast(
  agent: ThreadOpener,
  thread: AgentThread,
  events: AsyncIterable<AgentStreamEvent>,
): AsyncGenerator<AgentStreamEvent, void> {
  const live = join(agent, thread.id);
  const emit = (event: LiveEvent): void => live.listeners.forEach((listener) => listener(event));
  let step = nextStepOf(thread);
  let hasProvisional = false;
  try {
    for await (const event of events) {
      if ('at' in event) {
        if (event.type === 'step-finished') {
          step = event.step + 1;
          live.provisional = [];
        }
        emit({ type: 'recorded' });
      } else if (event.type !== 'finish' && event.type !== 'error') {
        hasProvisional = true;
        const provisional = { type: 'provisional', step, event } as const;
        keep(live, provisional);
        emit(provisional);
      }
      yield event;
    }
  } finally {
    /* A run that only records an answer for another run streams nothing, and the other run continues. */
    if (hasProvisional) {
      live.provisional = [];
      emit({ type: 'ended' });
    }
    leave(agent, thread.id);
  }
}

/** Subscribes to the runs of a thread in this process, beginning with what the open step has streamed. Returns the unsubscribe function. */
export function subscribe(agent: ThreadOpener, threadId: string, listener: Listener): () => void {
  const live = join(agent, threadId);
  for (const event of live.provisional) listener(event);
  live.listeners.add(listener);
  return () => {
    live.listeners.delete(listener);
    leave(agent, threadId);
  };
}

/* A preliminary result replaces the previous one of the same call. */
function keep(live: LiveThread, added: LiveThread['provisional'][number]): void {
  const { event } = added;
  if (event.type === 'tool-result') {
    live.provisional = live.provisional.filter(
      ({ event: kept }) => kept.type !== 'tool-result' || kept.toolCallId !== event.toolCallId,
    );
  }
  live.provisional.push(added);
}

/** The number of the step that the model takes next. */
export function nextStepOf({ events }: AgentThread): number {
  const last = events.findLast((event) => event.type === 'step-finished');
  return last === undefined ? 0 : last.step + 1;
}

function join(agent: ThreadOpener, threadId: string): LiveThread {
  const threads = threadsOf.get(agent) ?? new Map<string, LiveThread>();
  threadsOf.set(agent, threads);
  const live = threads.get(threadId) ?? { provisional: [], listeners: new Set(), users: 0 };
  threads.set(threadId, live);
  live.users += 1;
  return live;
}

function leave(agent: ThreadOpener, threadId: string): void {
  const threads = threadsOf.get(agent);
  const live = threads?.get(threadId);
  if (live === undefined) return;
  live.users -= 1;
  if (live.users === 0) threads?.delete(threadId);
}
