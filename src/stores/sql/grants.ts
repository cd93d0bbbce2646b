import { z } from 'zod';
import { HoldpointError } from '../../errors.ts';
import type { GrantChange, StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';
import { type SqlPart, toAgentColumn } from './thread-rows.ts';

/* Standing approvals as rows of SQL stores. */

export const grantColumns =
  'grant_id, agent, tool_name, person, body, created_at, expires_at, uses_left';

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
    async find({ agent, toolName, person, at }) {
      const values = [toAgentColumn(agent), toolName, person, at];
      const rows = await read({ name: 'holdpoint-find-grants', text: findGrants, values });
      return rows.map(parseGrantRow);
    },

    async list({ agent, after = '', limit = 100 }) {
      const ofAgent = agent === undefined ? [] : [toAgentColumn(agent)];
      const where = `${agent === undefined ? '' : 'agent = ? and '}grant_id > ?`;
      const text = `select ${grantColumns} from holdpoint_grants where ${where} order by grant_id limit ?`;
      return (await read({ text, values: [...ofAgent, after, limit] })).map(parseGrantRow);
    },

    async revoke(grantId) {
      const text = 'delete from holdpoint_grants where grant_id = ? returning grant_id';
      return (await write({ text, values: [grantId] })).length === 1;
    },
  };
}

const findGrants = `
  select ${grantColumns} from holdpoint_grants
  where agent = ? and tool_name = ? and (person is null or person = ?) and (expires_at is null or expires_at > ?)
  order by created_at, grant_id`;

const rowSchema = z.object({
  grant_id: z.string(),
  agent: z.string(),
  tool_name: z.string(),
  person: z.string().nullable(),
  body: z.string(),
  created_at: z.coerce.number(),
  expires_at: z.coerce.number().nullable(),
  uses_left: z.coerce.number().nullable(),
});

/** The grant in a row. Throws `log-tampered` for an invalid row. */
function parseGrantRow(row: unknown): StoredGrant {
  const { success, data } = rowSchema.safeParse(row);
  if (!success) {
    throw new HoldpointError(
      'log-tampered',
      'The table holdpoint_grants has an invalid row. Restore the database from a backup.',
    );
  }
  return {
    grantId: data.grant_id,
    agent: data.agent === '' ? null : data.agent,
    toolName: data.tool_name,
    person: data.person,
    text: data.body,
    createdAt: data.created_at,
    ...(data.expires_at === null ? {} : { expiresAt: data.expires_at }),
    ...(data.uses_left === null ? {} : { usesLeft: data.uses_left }),
  };
}

/** A grant as the values of a row, in the order of `grantColumns`. */
export function toGrantRow({
  grantId,
  agent,
  toolName,
  person,
  text,
  createdAt,
  expiresAt = null,
  usesLeft = null,
}: Omit<StoredGrant, 'expiresAt' | 'usesLeft'> & {
  expiresAt?: number | null;
  usesLeft?: number | null;
}): (string | number | null)[] {
  const name = toAgentColumn(agent ?? undefined);
  return [grantId, name, toolName, person, text, createdAt, expiresAt, usesLeft];
}

/** What an append changes: the grants that it creates, and how often it uses others; 0 for one that it revokes. */
export interface GrantWork {
  created: StoredGrant[];
  used: { grantId: string; count: number }[];
  /** When they are used, in milliseconds since 1970. */
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

/** The error for an append that uses a grant which has ended. */
export function makeGrantEndedError(used: GrantWork['used']): HoldpointError {
  const ids = used.map(({ grantId }) => grantId).join(', ');
  return new HoldpointError(
    'grant-ended',
    `Standing approval ${ids} was revoked, has expired or has no use left.`,
  );
}
