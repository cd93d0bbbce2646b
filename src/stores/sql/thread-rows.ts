import { z } from 'zod';
import { checkFilter } from '../../content/check-settings.ts';
import type {
  LogEnd,
  LogEntry,
  ThreadFilter,
  ThreadQuery,
  ThreadStore,
} from '../../thread/thread-store.ts';
import {
  listThreadConditions,
  makeConflictError,
  makeThreadPage,
  threads,
} from '../rows/tables.ts';
import {
  joinConditions,
  joinParts,
  makePageLimits,
  type SqlPart,
  writeCondition,
} from './sql-parts.ts';
import { makeInvalidRowError, makeSqlTable } from './sql-table.ts';

/**
 * The indexes of `holdpoint_threads` in addition to its primary key, `thread_id`. Their last columns allow filtering without reading the
 * row.
 */
export const threadIndexes = {
  deadline: 'holdpoint_threads_by_deadline',
  time: 'holdpoint_threads_by_time',
  status: 'holdpoint_threads_by_status',
  statusAndTime: 'holdpoint_threads_by_status_and_time',
  agent: 'holdpoint_threads_by_agent',
} as const;

const indexed: Record<keyof typeof threadIndexes, string> = {
  deadline: '(agent, next_deadline) where next_deadline is not null',
  time: '(updated_at, thread_id, agent)',
  status: '(status, thread_id, agent)',
  statusAndTime: '(status, updated_at, thread_id, agent)',
  agent: '(agent, thread_id)',
};

/** Creates some of these indexes; can be run again. Every append writes to all indexes. */
export function createThreadIndexes(names: readonly (keyof typeof threadIndexes)[]): string {
  return names
    .map(
      (name) =>
        `create index if not exists ${threadIndexes[name]} on holdpoint_threads ${indexed[name]};`,
    )
    .join('\n');
}

/** Does work at the first call, and again only if it failed. */
export function runOnce(work: () => Promise<unknown>): () => Promise<unknown> {
  let done: Promise<unknown> | undefined;
  return async () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

export const threadTable = makeSqlTable(threads);

const entrySchema = z.object({ revision: z.coerce.number(), entry: z.string() });

/** The entry in a row. Throws `log-tampered` for an invalid row. */
export function parseEntryRow(row: unknown): LogEntry {
  const parsed = entrySchema.safeParse(row);
  if (!parsed.success) throw makeInvalidRowError();
  const { revision, entry: text } = parsed.data;
  return Object.freeze({ revision, text });
}

/** The value of the `agent` column: the empty text for an agent without a name. */
export function toAgentColumn(agent: string | null = null): string {
  checkFilter({ agent });
  return agent ?? '';
}

/** Deletes one thread of a store. Throws `revision-conflict` if its log does not end at `expected`. */
export async function deleteOneThread(
  { head, deletion }: Pick<Required<ThreadStore>, 'head' | 'deletion'>,
  threadId: string,
  expected: LogEnd,
): Promise<void> {
  /* A thread that was never written is at revision 0. */
  const isDeleted =
    expected.revision === 0
      ? (await head(threadId)) === undefined
      : (await deletion.delete([[{ ...expected, threadId }]])).length === 1;
  if (!isDeleted) throw makeConflictError(threadId, expected);
}

/** The `where … order by … limit …` for a page of summaries that also fulfil `more`. */
export function makePageQuery(query: ThreadQuery, more: readonly SqlPart[] = []): SqlPart {
  const { isAfter, end } = makePageLimits(threadTable, makeThreadPage(query));
  return joinParts([joinConditions([...more, ...listConditions(query), ...isAfter]), end]);
}

/** The `order by … limit …` for a page of summaries. */
export function makePageEnd(query: ThreadQuery): SqlPart {
  return makePageLimits(threadTable, makeThreadPage(query)).end;
}

/** The `where …` for the threads that a filter selects; empty for all threads. */
export function filterPart(filter: ThreadFilter): SqlPart {
  return joinConditions(listConditions(filter));
}

function listConditions(filter: ThreadFilter): SqlPart[] {
  return listThreadConditions(filter).map((condition) => writeCondition(threadTable, condition));
}
