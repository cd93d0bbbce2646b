import { waitForTimer, WakeUp } from '../content/waiting.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadNotice, ThreadStore } from '../thread/thread-store.ts';
import type { Agent } from './agent.ts';
import type { PollingOptions } from './follow-thread.ts';

/** The part of a store that says when threads change. */
type WatchedStore = Pick<ThreadStore, 'head' | 'subscribe'>;

/** The key of an agent's store, for channels that watch threads. A registered symbol, so that it works across two copies of the package. */
export const watchedStore: unique symbol = Symbol.for('holdpoint.watched-store');

/* An app's own object around an agent has no store that can be watched. */
function isWatchable(agent: object): agent is { [watchedStore]: ThreadStore } {
  return watchedStore in agent;
}

/** The store of an agent; `undefined` for an app's own object around one. */
export function readStore(agent: object): ThreadStore | undefined {
  return isWatchable(agent) ? agent[watchedStore] : undefined;
}

/* A change that no notice reports is found after this time at the latest, unless `pollMs` is longer. */
const longestMs = 1_500;

/**
 * Yields the thread as it is now whenever it may have changed since it was opened, until the signal aborts: at a notice of the store, and when a
 * poll finds another revision or a passed deadline. Polls become less frequent while nothing changes. Holds no run, and writes nothing of its own.
 */
export async function* watchThread(
  agent: Pick<Agent, 'thread' | 'now'>,
  opened: AgentThread,
  { pollMs = 500, wait = waitForTimer, signal }: PollingOptions & { signal: AbortSignal },
): AsyncGenerator<AgentThread, void> {
  const store = readStore(agent);
  const wakeUp = new WakeUp();
  /* Before the first look, so that nothing is missed between the two. */
  const unsubscribe = subscribeIfPossible(store, (notice) => {
    if (notice === undefined || notice.threadId === opened.id) wakeUp.wake();
  });
  const stop = (): void => wakeUp.wake();
  signal.addEventListener('abort', stop);
  try {
    let thread = opened;
    let delay = pollMs;
    while (!signal.aborted) {
      if (await mayHaveChanged(thread, store, agent.now())) {
        const { revision } = thread;
        thread = await agent.thread(opened.id);
        if (thread.revision !== revision) delay = pollMs;
        yield thread;
      }
      const waiting = new AbortController();
      const ends = AbortSignal.any([signal, waiting.signal]);
      await Promise.race([wakeUp.wait(), wait(delay, ends)]).finally(() => waiting.abort());
      delay = Math.min(delay * 2, Math.max(pollMs, longestMs));
    }
  } finally {
    signal.removeEventListener('abort', stop);
    await unsubscribe();
  }
}

/* The status of a thread changes without an append when a deadline passes. */
async function mayHaveChanged(
  { id, revision }: AgentThread,
  store: WatchedStore | undefined,
  now: number,
): Promise<boolean> {
  if (store === undefined) return true;
  const head = await store.head(id);
  return (
    (head?.revision ?? 0) !== revision ||
    (head?.nextDeadline !== undefined && head.nextDeadline <= now)
  );
}

/** Subscribes to a store; one that has no notices, or can't send them now, is polled alone. */
export function subscribeIfPossible(
  store: Pick<ThreadStore, 'subscribe'> | undefined,
  listener: (notice?: ThreadNotice) => void,
): () => Promise<void> {
  try {
    const unsubscribe = store?.subscribe?.(listener);
    return async () => unsubscribe?.().catch(() => {});
  } catch {
    return async () => {};
  }
}
