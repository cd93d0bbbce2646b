import { checkLimit, refuseUnknown } from '../content/check-settings.ts';
import { readErrorText } from '../content/app-errors.ts';
import { readParentHash } from '../thread/child-threads.ts';
import { convertThreadToJson } from '../thread/thread-json.ts';
import {
  type ThreadStatus,
  threadStatuses,
  type ThreadStore,
  type ThreadStoreDeletion,
  type ThreadSummary,
} from '../thread/thread-store.ts';
import { readWholeLog } from './whole-log.ts';

/** Options of `deleteThreads`. */
export interface DeleteThreadsOptions {
  /**
   * The name of the agent whose threads are deleted; `null`: of agents without a name. Threads of others are deleted only as child threads.
   * Don't name an agent that needs data in its threads: a gate keeps the accepted definitions in those of its upstreams.
   */
  agent: string | null;
  /** Only threads whose last event was before this, in milliseconds since 1970. */
  updatedBefore: number;
  /**
   * Only threads of this status. Default `idle`: nothing in them waits, and nothing is due. A thread that is being run is never deleted.
   */
  status?: Exclude<ThreadStatus, 'running'>;
  /** The maximum number of threads to delete, without their child threads. Default: all. */
  limit?: number;
  /**
   * Called before each batch is deleted, with each of its threads as one line of JSON, for `agent.restore`, `checkAuditTrail` and
   * `holdpoint verify --file`. Nothing of the batch is deleted before it resolves, or if it rejects. A thread that changes at that moment
   * is kept, although it is among the lines. Reads and verifies every log, which is not read without it.
   */
  archive?: (lines: readonly string[]) => Promise<void> | void;
  /** Stops between two batches: `deleteThreads` rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called for each thread that was selected and kept, with the reason as a sentence. */
  report?: (kept: { threadId: string; reason: string }) => void;
}

/** The result of `deleteThreads`. */
export interface DeletedThreads {
  /** The number of deleted threads, child threads included. */
  deleted: number;
  /** The number of selected threads that were kept, because they changed meanwhile, a sub-agent is at work, or their log is damaged. */
  kept: number;
}

/** A thread and the child threads below it, which are deleted together or not at all. */
type Family = [root: ThreadSummary, ...children: ThreadSummary[]];

/* Few enough that neither the lines of an archive nor a transaction become large. */
const batchSize = 100;

/**
 * Deletes old threads, the oldest first, in batches, with the child threads of their sub-agents in the same store and the rows of their
 * requests. A child thread is only deleted with its parent. It reads no logs, unless there is an `archive`, and can be run beside agents
 * and workers, and again after it was stopped. Rejects with a `TypeError` for a store without `deletion`, and with the store's errors.
 *
 * @example
 * const quarter = 90 * 24 * 60 * 60 * 1000;
 * const { deleted } = await deleteThreads(store, { agent: 'booking', updatedBefore: Date.now() - quarter });
 */
export async function deleteThreads(
  store: ThreadStore,
  options: DeleteThreadsOptions,
): Promise<DeletedThreads> {
  const { deletion } = store;
  if (deletion === undefined) {
    throw new TypeError(
      'This store can delete single threads only: delete them with agent.delete, or give the store a deletion.',
    );
  }
  const { agent, updatedBefore, status = 'idle', limit = Infinity, signal } = options;
  refuseUnknown('deleteThreads', options, knownOptions);
  checkValues(agent, updatedBefore, status);
  const filter = { agent, status, updatedBefore };
  const done = { deleted: 0, kept: 0 };
  let left = checkLimit(limit, 'limit');
  for (let after: ThreadSummary | undefined; left > 0;) {
    signal?.throwIfAborted();
    const page = await store.list({
      ...filter,
      order: 'oldest',
      limit: Math.min(batchSize, left),
      ...(after && { after }),
    });
    after = page.at(-1);
    if (after === undefined) break;
    const chosen = page.filter(({ threadId }) => readParentHash(threadId) === undefined);
    const { deleted, kept } = await deleteBatch(store, deletion, chosen, options);
    for (const each of kept) options.report?.(each);
    left -= chosen.length - kept.length;
    done.deleted += deleted;
    done.kept += kept.length;
  }
  return done;
}

const knownOptions: Record<keyof DeleteThreadsOptions, true> = {
  agent: true,
  updatedBefore: true,
  status: true,
  limit: true,
  archive: true,
  signal: true,
  report: true,
};

function checkValues(agent: unknown, updatedBefore: number, status: string): void {
  if (agent !== null && typeof agent !== 'string') {
    throw new TypeError(
      'Name the agent whose threads to delete; null stands for agents without a name.',
    );
  }
  if (!Number.isFinite(updatedBefore)) {
    throw new TypeError(`updatedBefore must be milliseconds since 1970; got ${updatedBefore}.`);
  }
  if (status === 'running' || !threadStatuses.some((known) => known === status)) {
    throw new TypeError(`deleteThreads can't delete threads with the status '${status}'.`);
  }
}

interface Kept {
  threadId: string;
  reason: string;
}

async function deleteBatch(
  store: ThreadStore,
  deletion: ThreadStoreDeletion,
  chosen: readonly ThreadSummary[],
  { archive }: DeleteThreadsOptions,
): Promise<{ deleted: number; kept: Kept[] }> {
  if (chosen.length === 0) return { deleted: 0, kept: [] };
  const kept: Kept[] = [];
  const families: Family[] = [];
  const lines: string[] = [];
  const now = store.now === undefined ? Date.now() : await store.now();
  for (const family of await findFamilies(deletion, chosen)) {
    const [{ threadId }] = family;
    try {
      refuseRunning(family, now);
      if (archive !== undefined) lines.push(...(await writeLines(store, family)));
      families.push(family);
    } catch (error) {
      kept.push({ threadId, reason: readErrorText(error) });
    }
  }
  if (lines.length > 0) await archive?.(lines);
  const gone = new Set(await deletion.delete(families));
  let deleted = 0;
  for (const [{ threadId }, ...children] of families) {
    if (gone.has(threadId)) deleted += 1 + children.length;
    else kept.push({ threadId, reason: changedMeanwhile });
  }
  return { deleted, kept };
}

const changedMeanwhile = 'It has changed meanwhile.';

/** Finds each of the threads with the child threads below it. */
async function findFamilies(
  deletion: ThreadStoreDeletion,
  roots: readonly ThreadSummary[],
): Promise<Family[]> {
  const families = new Map<string, Family>(roots.map((root) => [root.threadId, [root]]));
  for (let level = new Map(families); level.size > 0;) {
    const next = new Map<string, Family>();
    for (const { parentId, ...child } of await deletion.listChildren([...level.keys()])) {
      const family = level.get(parentId);
      if (family?.every(({ threadId }) => threadId !== child.threadId) !== true) continue;
      family.push(child);
      next.set(child.threadId, family);
    }
    level = next;
  }
  return [...families.values()];
}

/* The end of a lease is the deadline of a thread that is being run. */
function refuseRunning(family: Family, now: number): void {
  for (const { threadId, status, nextDeadline = Infinity } of family) {
    if (status !== 'running' || nextDeadline <= now) continue;
    throw new Error(`Its child thread ${threadId} is being run.`);
  }
}

/** Writes each thread of a family as JSON, as it is when it is deleted. */
async function writeLines(store: ThreadStore, family: Family): Promise<string[]> {
  const lines: string[] = [];
  for (const { threadId, hash } of family) {
    const { state } = await readWholeLog(store, threadId);
    if (state.entries.at(-1)?.hash !== hash) throw new Error(changedMeanwhile);
    lines.push(JSON.stringify(convertThreadToJson(state)));
  }
  return lines;
}
