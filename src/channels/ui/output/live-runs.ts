import type { Agent } from '../../../agent/agent.ts';
import type { AgentStreamEvent } from '../../../agent/agent-stream.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { Provisional } from './turn-chunks.ts';

/** What happens in a run of this process, for pages that follow it. */
export type LiveNews =
  /** The model says more of the step of this number, or a tool has more before that step. */
  | { type: 'delta'; step: number; delta: Provisional }
  /** Events were recorded. */
  | { type: 'recorded' }
  /** The run has ended; what the model said and the run did not record never counts. */
  | { type: 'ended' };

type Listener = (news: LiveNews) => void;

/** A thread that is run in this process, or followed by pages. */
interface LiveThread {
  /** What the model has said of the step that is not recorded yet, and what tools have so far. */
  said: Extract<LiveNews, { type: 'delta' }>[];
  listeners: Set<Listener>;
  /** How many runs and pages use this. */
  users: number;
}

type ThreadOpener = Pick<Agent, 'thread'>;

const threadsOf = new WeakMap<ThreadOpener, Map<string, LiveThread>>();

/** Passes the events of a run on, and emits them to the pages that listen. */
export async function* broadcast(
  agent: ThreadOpener,
  thread: AgentThread,
  events: AsyncIterable<AgentStreamEvent>,
): AsyncGenerator<AgentStreamEvent, void> {
  const live = join(agent, thread.id);
  const emit = (news: LiveNews): void => live.listeners.forEach((listener) => listener(news));
  let step = nextStepOf(thread);
  let isSpeaking = false;
  try {
    for await (const event of events) {
      if ('at' in event) {
        if (event.type === 'step-finished') {
          step = event.step + 1;
          live.said = [];
        }
        emit({ type: 'recorded' });
      } else if (event.type !== 'finish' && event.type !== 'error') {
        isSpeaking = true;
        const news: LiveNews = { type: 'delta', step, delta: event };
        if (event.type === 'tool-result') {
          live.said = live.said.filter(({ delta }) => !isReplaced(delta, event));
        }
        live.said.push(news);
        emit(news);
      }
      yield event;
    }
  } finally {
    /* A run that only records an answer for another run says nothing, and the other run continues. */
    if (isSpeaking) {
      live.said = [];
      emit({ type: 'ended' });
    }
    leave(agent, thread.id);
  }
}

/** Listens to the runs of a thread in this process, from what the model has said already; the returned function ends that. */
export function listen(agent: ThreadOpener, threadId: string, listener: Listener): () => void {
  const live = join(agent, threadId);
  for (const news of live.said) listener(news);
  live.listeners.add(listener);
  return () => {
    live.listeners.delete(listener);
    leave(agent, threadId);
  };
}

/* What a tool yields takes the place of what it yielded before. */
function isReplaced(said: Provisional, by: Provisional): boolean {
  return (
    said.type === 'tool-result' && by.type === 'tool-result' && said.toolCallId === by.toolCallId
  );
}

/** The number of the step that the model takes next. */
export function nextStepOf({ events }: AgentThread): number {
  const last = events.findLast((event) => event.type === 'step-finished');
  return last === undefined ? 0 : last.step + 1;
}

function join(agent: ThreadOpener, threadId: string): LiveThread {
  const threads = threadsOf.get(agent) ?? new Map<string, LiveThread>();
  threadsOf.set(agent, threads);
  const live = threads.get(threadId) ?? { said: [], listeners: new Set(), users: 0 };
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
