import type { GrantChange, LogEnd, ThreadStoreGrants } from '../../thread/thread-store.ts';
import {
  grantColumns,
  makeGrantEndedError,
  parseGrantRow,
  type GrantWork,
  groupGrantWork,
  toGrantRow,
} from '../sql/grant-rows.ts';
import { parseSummaryRow } from '../sql/stored-rows.ts';
import { toAgentColumn } from '../sql/summary-query.ts';
import {
  isSerializationFailure,
  ignoreConflict,
  type PostgresQuery,
  type PostgresResult,
} from './postgres-pool.ts';
import type { RunQuery, StatementRunner } from './statement-runner.ts';
import { appendFirstWithGrants, appendNextWithGrants, readThread } from './statements.ts';

/** The standing approvals of a database. */
export function makePostgresGrants(run: RunQuery): ThreadStoreGrants {
  return {
    async find({ agent, toolName, person, at }) {
      const values = [toAgentColumn(agent), toolName, person, at];
      return (await run(findGrants, values)).rows.map(parseGrantRow);
    },

    async list({ agent, after = '', limit = 100 }) {
      const name = agent === undefined ? null : toAgentColumn(agent);
      return (await run(listGrants, [name, after, limit])).rows.map(parseGrantRow);
    },

    async revoke(grantId) {
      return (await run(revokeGrant, [grantId])).rowCount === 1;
    },
  };
}

/** An append, the values of its statement, and its changes of standing approvals. */
interface GrantAppend {
  threadId: string;
  expected: LogEnd;
  values: unknown[];
  changes: readonly GrantChange[];
}

/**
 * Appends, and changes standing approvals, in one statement. Its result has no rows after a concurrent append. Throws `grant-ended` if the
 * log ends where it was expected to, so that a standing approval is the reason.
 */
export async function appendWithGrants(
  run: RunQuery,
  appending: StatementRunner,
  { threadId, expected, values, changes }: GrantAppend,
): Promise<PostgresResult> {
  const query = expected.revision === 0 ? appendFirstWithGrants : appendNextWithGrants;
  const work = groupGrantWork(changes);
  for (;;) {
    let isToRetry = false;
    const allValues = [...values, ...listGrantValues(work)];
    const result = await appending.runOnGrants(query, allValues).catch((error: unknown) => {
      isToRetry = isSerializationFailure(error);
      return ignoreConflict(error);
    });
    if (result.rowCount !== 0) return result;
    const [end] = (await run(readThread, [threadId])).rows.map(parseSummaryRow);
    const { revision, hash } = end ?? { revision: 0, hash: '' };
    if (revision !== expected.revision || hash !== expected.hash) return result;
    /* Another thread used or revoked the same grant, in a database whose transactions are isolated more than by default. */
    if (isToRetry) continue;
    if (work.used.length === 0) return result;
    throw makeGrantEndedError(work.used);
  }
}

function listGrantValues({ used, created, at }: GrantWork): unknown[] {
  const rows = created.map(toGrantRow);
  const columns = Array.from({ length: 8 }, (_, index) => rows.map((row) => row[index]));
  return [used.map(({ grantId }) => grantId), used.map(({ count }) => count), at, ...columns];
}

const findGrants: PostgresQuery = {
  name: 'holdpoint-find-grants',
  text: `
    select ${grantColumns} from holdpoint_grants
    where agent = $1 and tool_name = $2 and (person is null or person = $3)
      and (expires_at is null or expires_at > $4)
    order by created_at, grant_id
  `,
};

const listGrants: PostgresQuery = {
  name: 'holdpoint-list-grants',
  text: `
    select ${grantColumns} from holdpoint_grants
    where ($1::text is null or agent = $1) and grant_id > $2 order by grant_id limit $3
  `,
};

const revokeGrant: PostgresQuery = {
  name: 'holdpoint-revoke-grant',
  text: 'delete from holdpoint_grants where grant_id = $1',
};
