import type { ThreadStatus } from '../../thread/thread-status.ts';
import type { ThreadSummary } from '../../thread/thread-store.ts';
import type { PostgresConnection, PostgresPool, PostgresResult } from './postgres-pool.ts';
import type { Send } from './statement-runner.ts';

/** What `onWake` is told of an append. */
export interface ThreadWake {
  threadId: string;
  /** The name of the agent that the thread belongs to; absent for an agent without a name. */
  agent?: string;
  status: Exclude<ThreadStatus, 'running'>;
  /**
   * When the thread needs a run, in milliseconds since 1970; 0 means now. Later than now for a deadline, and for the next attempt of a run
   * that failed. Absent if the thread waits for people or the app alone, or has nothing left to do.
   */
  resumeAt?: number;
}

/** The transaction of an append. */
export interface PostgresTransaction {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** Called in the transaction of an append. If it throws or rejects, nothing is appended. */
export type OnWake = (wake: ThreadWake, transaction: PostgresTransaction) => unknown;

/** The wake of an append; `undefined` while a run holds the thread. */
export function wakeOf(
  threadId: string,
  { agent, status, nextDeadline }: ThreadSummary,
): ThreadWake | undefined {
  if (status === 'running') return undefined;
  return {
    threadId,
    ...(agent === undefined ? {} : { agent }),
    status,
    ...(nextDeadline === undefined ? {} : { resumeAt: nextDeadline }),
  };
}

/** Sends a statement and then calls `onWake`, in one transaction. A statement that writes nothing wakes nobody. */
export function sendAndWake(pool: PostgresPool, onWake: OnWake, wake: ThreadWake): Send {
  return (query) =>
    inTransaction(pool, async (connection) => {
      const result = await connection.query(query);
      const run = async (text: string, values: unknown[] = []): Promise<PostgresResult> =>
        connection.query({ text, values });
      if (result.rowCount !== 0) await onWake(wake, { query: run });
      return result;
    });
}

async function inTransaction<RESULT>(
  pool: PostgresPool,
  work: (connection: PostgresConnection) => Promise<RESULT>,
): Promise<RESULT> {
  const connection = await pool.connect();
  ignoreErrors(connection);
  let isBroken = true;
  try {
    await connection.query({ text: 'begin' });
    const result = await work(connection);
    await connection.query({ text: 'commit' });
    isBroken = false;
    return result;
  } catch (error) {
    await connection.query({ text: 'rollback' }).then(
      () => (isBroken = false),
      () => {},
    );
    throw error;
  } finally {
    connection.release(isBroken);
  }
}

/* An error of a connection that is in use also fails its query. Without a listener it would end the process. */
const ignored = new WeakSet<PostgresConnection>();

function ignoreErrors(connection: PostgresConnection): void {
  if (ignored.has(connection)) return;
  ignored.add(connection);
  connection.on('error', () => {});
}
