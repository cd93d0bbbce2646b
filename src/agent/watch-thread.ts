import { waitForTimer, WakeUp } from '../content/waiting.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadNotice, ThreadStore } from '../thread/thread-store.ts';
import { findDoor } from './agent-door.ts';
import type { Agent } from './agent.ts';
import type { PollingOptions } from './follow-thread.ts';

/** The part of a store that reports changes of threads. */
type WatchedStore = Pick<ThreadStore, 'head' | 'subscribe'>;

/* A change that no notice reports is found after this time at the latest, unless `pollMs` is longer. */
const longestMs = 1_500;

/**
 * Yields the thread as it is now whenever it may have changed since it was opened, until the signal aborts: at a notice of the store, and
 * when a poll finds another revision or a passed deadline. Polls become less frequent while nothing changes. Holds no run, and writes
 * nothing.
 */
export async function* watchThread(
  agent: Pick<Agent, 'thread' | 'now'>,
  opened: AgentThread,
  { pollMs = 500, wait = waitForTimer, signal }: PollingOptions & { signal: AbortSignal },
): AsyncGenerator<AgentThread, void> {
  const store = findDoor(agent)?.store;
  const wakeUp = new WakeUp();
  /* Before the first read, so that nothing is missed between the two. */
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

/** Subscribes to changes in a store; a store that has no notices, or can't send them now, is only polled. */
export function subscribeIfPossible(
  store: Pick<ThreadStore, 'subscribe'> | undefined,
  listener: (notice?: ThreadNotice) => void,
): () => Promise<void> {
  try {
    const unsubscribe = store?.subscribe?.((notice) => {
      if (notice?.type !== 'claim') listener(notice);
    });
    return async () => unsubscribe?.().catch(() => {});
  } catch {
    return async () => {};
  }
}
