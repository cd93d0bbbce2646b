import type { PostgresPool } from 'holdpoint/stores/postgres';

/** A pool that keeps the texts of the statements which it sends. */
export function recordTexts(pool: PostgresPool): { pool: PostgresPool; texts: string[] } {
  const texts: string[] = [];
  const recording: PostgresPool = {
    connect: async () => pool.connect(),
    options: pool.options,
    async query(query) {
      texts.push(query.text);
      return pool.query(query);
    },
  };
  return { pool: recording, texts };
}

/** A pool whose transactions wait before they commit, until they are let go. */
export function holdCommits(pool: PostgresPool): {
  pool: PostgresPool;
  /** Resolves when a transaction has done all but commit. */
  reached: Promise<void>;
  letGo(): void;
} {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: free, resolve: letGo } = Promise.withResolvers<void>();
  return {
    reached,
    letGo: () => letGo(),
    pool: {
      query: async (query) => pool.query(query),
      async connect() {
        const connection = await pool.connect();
        const query: typeof connection.query = async (asked) => {
          if (asked.text === 'commit') {
            reach();
            await free;
          }
          return connection.query(asked);
        };
        return {
          query,
          on: connection.on.bind(connection),
          release: (destroy) => connection.release(destroy),
        };
      },
    },
  };
}
