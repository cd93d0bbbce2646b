import { grantColumns } from '../sql/grant-rows.ts';
import type { PostgresQuery } from './postgres-pool.ts';

export const findGrants: PostgresQuery = {
  name: 'holdpoint-find-grants',
  text: `
    select ${grantColumns} from holdpoint_grants
    where agent = $1 and tool_name = $2 and (person is null or person = $3)
      and (expires_at is null or expires_at > $4)
    order by created_at, grant_id
  `,
};

export const listGrants: PostgresQuery = {
  name: 'holdpoint-list-grants',
  text: `
    select ${grantColumns} from holdpoint_grants
    where ($1::text is null or agent = $1) and grant_id > $2 order by grant_id limit $3
  `,
};

export const revokeGrant: PostgresQuery = {
  name: 'holdpoint-revoke-grant',
  text: 'delete from holdpoint_grants where grant_id = $1',
};
