import type { PostgresPool } from 'holdpoint/stores/postgres';

/** How many statements a pool has sent. */
export interface StatementCounts {
  all: number;
  claims: number;
}

/** The pool, counting what it sends. */
export function countStatements(pool: PostgresPool, counts: StatementCounts): PostgresPool {
  return {
    connect: async () => pool.connect(),
    options: pool.options,
    query: async (query) => {
      counts.all += 1;
      if (query.text.includes('skip locked')) counts.claims += 1;
      return pool.query(query);
    },
  };
}

/** The pool, which sends no notices. */
export function muteNotices(pool: PostgresPool): PostgresPool {
  return {
    connect: async () => pool.connect(),
    options: pool.options,
    query: async (query) =>
      query.text.includes('pg_notify') ? { rows: [], rowCount: 0 } : pool.query(query),
  };
}
