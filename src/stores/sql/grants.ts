import type { GrantChange, StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';
import type { RowCondition } from '../rows/row-query.ts';
import { grantOrder, grants, listGrantConditions, selectGrants } from '../rows/tables.ts';
import {
  joinConditions,
  joinParts,
  makePageLimits,
  type SqlPart,
  writeCondition,
  writeOrder,
} from './sql-parts.ts';
import { makeSqlTable } from './sql-table.ts';

/* Standing approvals as rows of SQL stores. */

export const grantTable = makeSqlTable(grants);

export const createGrantIndex = `
create index if not exists holdpoint_grants_tool on holdpoint_grants (agent, tool_name, person);
`;

/** A statement about standing approvals. One with a `name` is always the same text. */
export interface GrantStatement extends SqlPart {
  name?: string;
}

/** Runs a statement about standing approvals. Returns its rows. */
type RunOnGrants = (statement: GrantStatement) => Promise<readonly unknown[]>;

/** The standing approvals of a database. `read` runs statements that only read, `write` others. */
export function makeSqlGrants(read: RunOnGrants, write: RunOnGrants): ThreadStoreGrants {
  return {
    async find(query) {
      const end = { text: writeOrder(grantTable, grantOrder), values: [] };
      const select = selectWhere(listGrantConditions(query), [], end);
      const rows = await read({ name: 'holdpoint-find-grants', ...select });
      return rows.map(grantTable.parse);
    },

    async list(query) {
      const { where, ...page } = selectGrants(query);
      const { isAfter, end } = makePageLimits(grantTable, page);
      return (await read(selectWhere(where, isAfter, end))).map(grantTable.parse);
    },

    async revoke(grantId) {
      const text = 'delete from holdpoint_grants where grant_id = ? returning grant_id';
      return (await write({ text, values: [grantId] })).length === 1;
    },
  };
}

function selectWhere(
  where: readonly RowCondition[],
  more: readonly SqlPart[],
  end: SqlPart,
): SqlPart {
  const conditions = where.map((condition) => writeCondition(grantTable, condition));
  const select = { text: `select ${grantTable.columns} from holdpoint_grants`, values: [] };
  return joinParts([select, joinConditions([...conditions, ...more]), end]);
}

/** The changes of an append: the grants that it creates, and the number of uses of others; 0 for one that it revokes. */
export interface GrantWork {
  created: StoredGrant[];
  used: { grantId: string; count: number }[];
  /** The time of the use, in milliseconds since 1970. */
  at: number;
}

/** The changes of an append, each used grant once. */
export function groupGrantWork(changes: readonly GrantChange[]): GrantWork {
  const counts = new Map<string, number>();
  let at = 0;
  for (const change of changes) {
    if (change.type === 'create') continue;
    const count = change.type === 'use' ? 1 : 0;
    counts.set(change.grantId, (counts.get(change.grantId) ?? 0) + count);
    if (change.type === 'use') at = Math.max(at, change.at);
  }
  const used = [...counts].map(([grantId, count]) => ({ grantId, count }));
  const created = changes.flatMap((change) => (change.type === 'create' ? change.grant : []));
  return { created, used, at };
}
