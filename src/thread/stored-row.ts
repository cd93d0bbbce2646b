import { z } from 'zod';
import { HoldpointError } from '../errors.ts';
import type { ThreadSummary } from './thread-store.ts';

/*
 * Rows of SQL stores, whose columns are the summary's own names in snake case. A status that this holdpoint does not know
 * is shown as the one that asks for a look.
 */
const rowSchema = z.object({
  thread_id: z.string(),
  status: z.enum(['idle', 'waiting', 'running', 'indeterminate']).catch('indeterminate'),
  revision: z.coerce.number(),
  open_requests: z.coerce.number(),
  next_deadline: z.coerce.number().nullable(),
  updated_at: z.coerce.number(),
});

/** The summary in a row. Throws `log-tampered` for a row that no store wrote. */
export function summaryOfRow(row: unknown): ThreadSummary {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) throw notWritten();
  const { thread_id: threadId, status, revision, next_deadline: nextDeadline } = parsed.data;
  return {
    threadId,
    status,
    revision,
    openRequests: parsed.data.open_requests,
    ...(nextDeadline === null ? {} : { nextDeadline }),
    updatedAt: parsed.data.updated_at,
  };
}

/** The event's text in a row. Throws `log-tampered` for anything else. */
export function eventTextOfRow(row: Record<string, unknown>): string {
  const { event } = row;
  if (typeof event === 'string') return event;
  throw notWritten();
}

function notWritten(): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    'The database holds a row that no store of holdpoint wrote.',
  );
}
