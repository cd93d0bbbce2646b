import type { Agent } from '../../agent/agent.ts';
import type { AgentStreamEvent } from '../../agent/agent-stream.ts';
import type { ModelDelta } from '../../agent/streaming-model.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/** What happens in a run of this process, for pages that follow it. */
export type LiveNews =
  /** The model says more of the step of this number. */
  | { type: 'delta'; step: number; delta: ModelDelta }
  /** Events were recorded. */
  | { type: 'recorded' }
  /** The run has ended; what it said and did not record never counts. */
  | { type: 'ended' };

type Listener = (news: LiveNews) => void;

/** A thread that pages of this process watch, or that is run in it. */
interface LiveThread {
  /** What the model has said of the step that is not recorded yet. */
  said: Extract<LiveNews, { type: 'delta' }>[];
  listeners: Set<Listener>;
  /** How many runs and pages use this. */
  users: number;
}

type ThreadOpener = Pick<Agent, 'thread'>;

const threadsOf = new WeakMap<ThreadOpener, Map<string, LiveThread>>();

/** The events of a run, which the pages that listen get as well. */
export async function* overheard(
  agent: ThreadOpener,
  thread: AgentThread,
  events: AsyncIterable<AgentStreamEvent>,
): AsyncGenerator<AgentStreamEvent, void> {
  const live = join(agent, thread.id);
  const tell = (news: LiveNews): void => live.listeners.forEach((listener) => listener(news));
  let step = nextStepOf(thread);
  let isSpeaking = false;
  try {
    for await (const event of events) {
      if ('at' in event) {
        if (event.type === 'step-finished') {
          step = event.step + 1;
          live.said = [];
        }
        tell({ type: 'recorded' });
      } else if (event.type !== 'finish' && event.type !== 'error') {
        isSpeaking = true;
        const news: LiveNews = { type: 'delta', step, delta: event };
        live.said.push(news);
        tell(news);
      }
      yield event;
    }
  } finally {
    /* A run that only brought an answer to another one has said nothing, and the other one goes on. */
    if (isSpeaking) {
      live.said = [];
      tell({ type: 'ended' });
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
