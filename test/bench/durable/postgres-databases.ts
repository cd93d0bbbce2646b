import type { Database } from './database.ts';

/** Databases of a server that lives until they are disposed of. */
export interface PostgresDatabases extends AsyncDisposable {
  /** One database twice: for a store that prepares its statements, and for one that does not. */
  databases: Database[];
  /** Another database, for a store that prepares its statements. */
  create(): Promise<Database>;
  /** Why there are none. */
  problem?: string;
}

/** Starts a Postgres server of the bench's own. On a machine that can't, there are no databases. */
export async function startPostgres(): Promise<PostgresDatabases> {
  try {
    /* Imported here, as the package with the server's binaries may be missing for this machine. */
    const { durableSettings, PostgresServer } = await import('../../support/postgres-server.ts');
    const { databaseSchema } = await import('./database.ts');
    const server = await PostgresServer.start(durableSettings);
    const connection = server.pool(await server.createDatabase()).options;
    const databases = [false, true].map((prepare) =>
      databaseSchema.parse({ kind: 'postgres', prepare, connection }),
    );
    const create = async (): Promise<Database> => {
      const own = server.pool(await server.createDatabase()).options;
      return databaseSchema.parse({ kind: 'postgres', prepare: true, connection: own });
    };
    return { databases, create, [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose]() };
  } catch (error) {
    const problem = String(error);
    const create = async (): Promise<Database> => Promise.reject(new Error(problem));
    return { databases: [], create, problem, async [Symbol.asyncDispose]() {} };
  }
}
