import type { TestProject } from 'vitest/node';
import { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number;
  }
}

/** Starts the Postgres server that all test files of a run share, and stops it when they are done. */
export default async function startSharedPostgres(project: TestProject) {
  const server = await PostgresServer.start();
  project.provide('postgresPort', server.port);
  return async (): Promise<void> => server[Symbol.asyncDispose]();
}
