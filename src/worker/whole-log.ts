import { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadStore } from '../thread/thread-store.ts';

/**
 * Reads the log of a thread from its beginning without its agent. It is read-only: it has no owner that could append. Every entry is
 * verified, as is the end of the log. Rejects with `log-tampered` for a changed one.
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
