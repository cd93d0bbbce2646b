import { readEntry } from './log-entry.ts';
import { replayRequests } from './stored-requests.ts';
import type { ThreadLog } from './thread-log.ts';
import type { LogEntry, ThreadStore, ThreadSummary } from './thread-store.ts';
import { readWholeLog } from './whole-log.ts';

/** Options of `fillRequests`. */
export interface FillOptions {
  /** Only threads of the agent of this name; `null`: of agents without a name. Default: all threads. */
  agent?: string | null;
  /** Stops between two threads: `fillRequests` rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called after each thread, with how many rows its log has; or with the error because of which it was left out. */
  report?: (thread: { threadId: string; requests: number; error?: unknown }) => void;
}

/** What `fillRequests` has done. */
export interface FilledRequests {
  /** How many threads it has read. */
  threads: number;
  /** How many threads could not be read. */
  failed: number;
  /** How many rows their logs have. */
  requests: number;
}

/**
 * Adds the requests of threads that were written before the store kept any. Run it once, when all processes that use the store keep
 * requests; agents and workers may keep running meanwhile. It changes no row that exists, apart from open ones whose request is decided, so it
 * can be run again, for example after it was stopped. It reads every log. Rejects with a `TypeError` for a store that keeps no requests, and with the store's errors.
 *
 * @example
 * const { failed } = await fillRequests(store, { report: ({ threadId, error }) => error && console.error(threadId, error) });
 */
export async function fillRequests(
  store: ThreadStore,
  { agent, signal, report }: FillOptions = {},
): Promise<FilledRequests> {
  const { requests } = store;
  if (requests === undefined) throw new TypeError('This store keeps no requests.');
  const filled: FilledRequests = { threads: 0, failed: 0, requests: 0 };
  for (let after: ThreadSummary | undefined; ;) {
    const ofAgent = agent === undefined ? {} : { agent };
    const page = await store.list({ ...ofAgent, ...(after && { after }) });
    for (const { threadId } of page) {
      signal?.throwIfAborted();
      let log: ThreadLog;
      let end: LogEntry | undefined;
      try {
        log = await readWholeLog(store, threadId);
        end = await readEnd(store, log);
      } catch (error) {
        filled.failed += 1;
        report?.({ threadId, requests: 0, error });
        continue;
      }
      const rows = [...replayRequests(log.state).values()];
      // oxlint-disable-next-line unicorn/no-array-fill-with-reference-type -- not the `fill` of an array.
      if (end !== undefined && rows.length > 0) await requests.fill(rows, end);
      filled.threads += 1;
      filled.requests += rows.length;
      report?.({ threadId, requests: rows.length });
    }
    after = page.at(-1);
    if (after === undefined) return filled;
  }
}

/** The last entry of a log as it was read; `undefined` if the thread was deleted meanwhile, and perhaps created anew. */
async function readEnd(store: ThreadStore, { state }: ThreadLog): Promise<LogEntry | undefined> {
  const [end, before] = state.entries.slice(-2).toReversed();
  const [entry] = await store.read(state.threadId, before?.revision ?? 0);
  return entry !== undefined && readEntry(entry).hash === end?.hash ? entry : undefined;
}
