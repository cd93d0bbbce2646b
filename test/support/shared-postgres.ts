import { inject } from 'vitest';
import { PostgresDatabases } from './postgres-databases.ts';

/** The one Postgres server of this run of the tests. It is not for restarting: others have their databases there. */
export function sharedPostgres(): PostgresDatabases {
  return new PostgresDatabases(inject('postgresPort'));
}
