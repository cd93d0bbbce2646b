import type { GrantChange, ThreadStoreGrants } from '../../thread/thread-store.ts';
import { grantColumns, grantEnded, grantOfRow, grantWork, rowOfGrant } from '../sql/grant-rows.ts';
import { agentColumn } from '../sql/summary-query.ts';
import type { SqliteFile } from './sqlite-file.ts';

const isActive = '(expires_at is null or expires_at > ?)';
const insertGrant = `insert into holdpoint_grants (${grantColumns}) values (?, ?, ?, ?, ?, ?, ?, ?)`;
const useGrant = `
  update holdpoint_grants set uses_left = uses_left - ? where grant_id = ? and ${isActive} and (uses_left is null or uses_left >= ?)`;
const deleteUsedUp = 'delete from holdpoint_grants where grant_id = ? and uses_left = 0';
const findGrants = `
  select * from holdpoint_grants
  where agent = ? and tool_name = ? and (person is null or person = ?) and ${isActive}
  order by created_at, grant_id`;
const listGrants = `
  select * from holdpoint_grants
  where (? is null or agent = ?) and grant_id > ? order by grant_id limit ?`;
const deleteGrant = 'delete from holdpoint_grants where grant_id = ?';

/** The standing approvals of a SQLite file. */
export function sqliteGrants(file: SqliteFile): ThreadStoreGrants {
  return {
    async find({ agent, toolName, person, at }) {
      return file.rows(findGrants, [agentColumn(agent), toolName, person, at]).map(grantOfRow);
    },

    async list({ agent, after = '', limit = 100 }) {
      const name = agent === undefined ? null : agentColumn(agent);
      return file.rows(listGrants, [name, name, after, limit]).map(grantOfRow);
    },

    async revoke(grantId) {
      const deleted = file.transaction(() => file.write(deleteGrant, [grantId]));
      if (deleted > 0) file.truncateLog();
      return deleted > 0;
    },
  };
}

/** Makes the changes of an append, inside its transaction. Throws `grant-ended` if one of them can't be made. */
export function changeGrants(file: SqliteFile, changes: readonly GrantChange[]): void {
  const { created, used, at } = grantWork(changes);
  for (const { grantId, count } of used) {
    if (file.write(useGrant, [count, grantId, at, count]) === 0) throw grantEnded(used);
    file.write(deleteUsedUp, [grantId]);
  }
  for (const grant of created) file.write(insertGrant, rowOfGrant(grant));
}
