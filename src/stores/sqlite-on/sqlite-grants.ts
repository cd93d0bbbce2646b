import type { StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';
import { grantColumns, parseGrantRow } from '../sql/grant-rows.ts';
import { toAgentColumn } from '../sql/summary-query.ts';
import type { SqliteDriver, SqliteRow } from './sqlite-driver.ts';

const findGrants = `
  select ${grantColumns} from holdpoint_grants
  where agent = ? and tool_name = ? and (person is null or person = ?) and (expires_at is null or expires_at > ?)
  order by created_at, grant_id`;
const listGrants = `
  select ${grantColumns} from holdpoint_grants
  where (? is null or agent = ?) and grant_id > ? order by grant_id limit ?`;
const deleteGrant = 'delete from holdpoint_grants where grant_id = ? returning grant_id';

/** The standing approvals of a database. */
export function makeSqliteGrants(driver: SqliteDriver): ThreadStoreGrants {
  return {
    async find({ agent, toolName, person, at }) {
      const values = [toAgentColumn(agent), toolName, person, at];
      return (await driver.query({ text: findGrants, values })).map(readGrant);
    },

    async list({ agent, after = '', limit = 100 }) {
      const name = agent === undefined ? null : toAgentColumn(agent);
      const values = [name, name, after, limit];
      return (await driver.query({ text: listGrants, values })).map(readGrant);
    },

    async revoke(grantId) {
      const [deleted] = await driver.batch([{ text: deleteGrant, values: [grantId] }]);
      return deleted?.length === 1;
    },
  };
}

const names = grantColumns.split(', ');

function readGrant(row: SqliteRow): StoredGrant {
  return parseGrantRow(Object.fromEntries(names.map((name, index) => [name, row[index]])));
}
