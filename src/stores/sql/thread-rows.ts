import { z } from 'zod';
import { HoldpointError } from '../../errors.ts';
import {
  type LogEnd,
  type LogEntry,
  type ThreadFilter,
  type ThreadQuery,
  threadStatuses,
  type ThreadStore,
  type ThreadSummary,
} from '../../thread/thread-store.ts';

/** The indexes of `holdpoint_threads` besides its primary key, `thread_id`. Their last columns allow filtering without reading the row. */
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

/** Creates some of these indexes; can be run again. Every append writes to all that there are. */
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

/*
 * Rows of SQL stores, whose columns are the fields of the summary in snake case. A status of a newer holdpoint is read as
 * `indeterminate`, so that a person checks the thread.
 */
const rowSchema = z.object({
  thread_id: z.string(),
  agent: z.string(),
  status: z.enum(threadStatuses).catch('indeterminate'),
  revision: z.coerce.number(),
  hash: z.string(),
  open_requests: z.coerce.number(),
  failures: z.coerce.number(),
  next_deadline: z.coerce.number().nullable(),
  updated_at: z.coerce.number(),
});

/** The summary in a row. Throws `log-tampered` for an invalid row. */
export function parseSummaryRow(row: unknown): ThreadSummary {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) throw makeInvalidRowError();
  const { thread_id: threadId, agent, status, revision, next_deadline: nextDeadline } = parsed.data;
  return {
    threadId,
    ...(agent === '' ? {} : { agent }),
    status,
    revision,
    hash: parsed.data.hash,
    openRequests: parsed.data.open_requests,
    failures: parsed.data.failures,
    ...(nextDeadline === null ? {} : { nextDeadline }),
    updatedAt: parsed.data.updated_at,
  };
}

const entrySchema = z.object({ revision: z.coerce.number(), entry: z.string() });

/** The entry in a row. Throws `log-tampered` for an invalid row. */
export function parseEntryRow(row: unknown): LogEntry {
  const parsed = entrySchema.safeParse(row);
  if (!parsed.success) throw makeInvalidRowError();
  const { revision, entry: text } = parsed.data;
  return Object.freeze({ revision, text });
}

/** The value of the `agent` column: the empty text for an agent without a name. */
export function toAgentColumn(agent: string | null | undefined): string {
  return agent ?? '';
}

/** The error for a row that no holdpoint has written. */
export function makeInvalidRowError(): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    'A holdpoint table has an invalid row. Restore the database from a backup.',
  );
}

/** The error for a log that does not end at `expected`. */
export function makeConflictError(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
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

/*
 * Queries of SQL stores, in SQL that their dialects share. Conditions of absent filters are left out, because no index serves
 * `? is null or …`.
 */

/** A part of a statement, with a `?` for each of its values. */
export interface SqlPart {
  text: string;
  values: (string | number | null)[];
}

const orders = {
  id: 'thread_id',
  oldest: 'updated_at, thread_id',
  newest: 'updated_at desc, thread_id desc',
} as const;

/** The `where … order by … limit …` for a page of summaries that also fulfil `more`. */
export function makePageQuery(query: ThreadQuery, more: readonly SqlPart[] = []): SqlPart {
  const { order = 'id', after, limit: _limit, ...filter } = query;
  const conditions = [...more, ...listConditions(filter)];
  if (after !== undefined) conditions.push(makeAfterCondition(order, after));
  const where = joinConditions(conditions);
  const end = makePageEnd(query);
  return { text: `${where.text} ${end.text}`, values: [...where.values, ...end.values] };
}

/** The `order by … limit …` for a page of summaries. */
export function makePageEnd({ order = 'id', limit = 100 }: ThreadQuery): SqlPart {
  return { text: `order by ${orders[order]} limit ?`, values: [limit] };
}

/** The `where …` for the threads that a filter selects; empty for all threads. */
export function filterPart(filter: ThreadFilter): SqlPart {
  return joinConditions(listConditions(filter));
}

function listConditions({ status, agent, dueBefore, updatedBefore }: ThreadFilter): SqlPart[] {
  return [
    ...(status === undefined ? [] : [{ text: 'status = ?', values: [status] }]),
    ...(agent === undefined ? [] : [{ text: 'agent = ?', values: [toAgentColumn(agent)] }]),
    ...(dueBefore === undefined ? [] : [{ text: 'next_deadline < ?', values: [dueBefore] }]),
    ...(updatedBefore === undefined ? [] : [{ text: 'updated_at < ?', values: [updatedBefore] }]),
  ];
}

function makeAfterCondition(
  order: keyof typeof orders,
  { threadId, updatedAt }: Pick<ThreadSummary, 'threadId' | 'updatedAt'>,
): SqlPart {
  if (order === 'id') return { text: 'thread_id > ?', values: [threadId] };
  const sign = order === 'oldest' ? '>' : '<';
  return { text: `(updated_at, thread_id) ${sign} (?, ?)`, values: [updatedAt, threadId] };
}

function joinConditions(conditions: readonly SqlPart[]): SqlPart {
  if (conditions.length === 0) return { text: '', values: [] };
  return {
    text: `where ${conditions.map(({ text }) => text).join(' and ')}`,
    values: conditions.flatMap(({ values }) => values),
  };
}
