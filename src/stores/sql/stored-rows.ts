import { z } from 'zod';
import { HoldpointError } from '../../errors.ts';
import type { LogEnd, LogEntry, ThreadSummary } from '../../thread/thread-store.ts';

/*
 * Rows of SQL stores, whose columns are the fields of the summary in snake case. A status of a newer holdpoint is read as
 * `indeterminate`, so that a person checks the thread.
 */
const rowSchema = z.object({
  thread_id: z.string(),
  agent: z.string(),
  status: z.enum(['idle', 'waiting', 'running', 'indeterminate', 'stuck']).catch('indeterminate'),
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

/** The error for a row that no holdpoint has written. */
export function makeInvalidRowError(): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    'A holdpoint table has an invalid row. Restore the database from a backup.',
  );
}

/** The error for a log that does not end at `expected`. */
export function logConflict(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
}
