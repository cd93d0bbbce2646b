import { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadStore } from '../thread/thread-store.ts';

/**
 * The log of a thread, read from its beginning without its agent, for reading: it has no owner that could append. Every entry is verified, as
 * is the end of the log. Rejects with `log-tampered` for one that was changed.
 */
export async function readWholeLog(store: ThreadStore, threadId: string): Promise<ThreadLog> {
  const log = new ThreadLog(threadId, {
    store,
    now: Date.now,
    origin: {},
    refuse: () => {},
    ignoresSnapshots: true,
    onAppended: () => {},
  });
  await log.open();
  return log;
}
