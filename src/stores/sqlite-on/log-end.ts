import { HoldpointError } from '../../errors.ts';
import type { LogEnd } from '../../thread/thread-store.ts';
import type { SqliteValue } from './sqlite-driver.ts';

/*
 * Some databases run several statements in one transaction only as a batch, without anything in between that could decide. So each statement
 * of a batch has the condition under which it writes.
 */

/** The condition that a thread has no log. */
export const hasNoLog = 'not exists (select 1 from holdpoint_threads where thread_id = ?)';

/** The condition that the log of a thread ends at a revision with a hash. */
export const endsAt =
  'exists (select 1 from holdpoint_threads where thread_id = ? and revision = ? and hash = ?)';

/** The values of the condition for this end: those of `hasNoLog` or of `endsAt`. */
export function endValues(threadId: string, { revision, hash }: LogEnd): SqliteValue[] {
  return revision === 0 ? [threadId] : [threadId, revision, hash];
}

/** The error for a log that does not end at `expected`. */
export function conflict(threadId: string, { revision }: LogEnd): HoldpointError {
  return new HoldpointError(
    'revision-conflict',
    `The log of thread ${threadId} does not end at the expected revision ${revision}, or was replaced.`,
  );
}
