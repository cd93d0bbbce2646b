import { pastEvents, pastMessages, seed } from '../past-conversation.ts';
import type { TimedWorker } from './timed-worker.ts';

/** What appends took at one length of the history, in milliseconds; a number for each. */
export interface AppendResult {
  /** Messages in the thread. */
  history: number;
  /** In the store. */
  inStore: number[];
  /** Deciding, hashing and folding in, beside the store. */
  beside: number[];
}

/**
 * Measures appends to threads that stay open: a request is opened, and cancelled again. In a cycle the garbage of reading a long
 * history is collected while the store is waited for, which is a cost of the reading.
 */
export async function measureAppends(
  worker: TimedWorker,
  histories: readonly number[],
  budgetMs: number,
): Promise<AppendResult[]> {
  const results: AppendResult[] = [];
  const samplers: (() => Promise<void>)[] = [];
  for (const history of histories) {
    const result: AppendResult = { history, inStore: [], beside: [] };
    results.push(result);
    samplers.push(await samplerAt(worker, result));
  }
  globalThis.gc?.();
  const end = performance.now() + budgetMs;
  while (performance.now() < end) {
    for (const sample of samplers) await sample();
  }
  return results;
}

async function samplerAt(
  { agent, store, times }: TimedWorker,
  { history, inStore, beside }: AppendResult,
): Promise<() => Promise<void>> {
  const threadId = `appends-${Date.now()}-${history}`;
  await seed(store, threadId, pastEvents(pastMessages(history)));
  const thread = await agent.thread(threadId);
  return async () => {
    const { append, read } = times;
    const begin = performance.now();
    await agent.requestApproval(thread, { text: 'May I?' });
    await agent.cancel(thread);
    const elapsed = performance.now() - begin;
    const [appending, reading] = [times.append - append, times.read - read];
    inStore.push(appending / 2);
    beside.push((elapsed - appending - reading) / 2);
  };
}
