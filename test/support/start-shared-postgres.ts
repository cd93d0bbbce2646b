import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number;
  }
}

/*
 * The package with the server ends the process with 0 before it would end by itself, so that failed tests would pass. Its other hooks, which
 * stop the server with the process, stay.
 */
async function loadServer(): Promise<typeof import('./postgres-server.ts')> {
  const before = process.listeners('beforeExit');
  const loaded = await import('./postgres-server.ts');
  for (const listener of process.listeners('beforeExit')) {
    if (!before.includes(listener)) process.off('beforeExit', listener);
  }
  return loaded;
}

/** Starts the Postgres server that all test files of a run share, and stops it when they are done. */
export default async function startSharedPostgres(project: TestProject) {
  const { PostgresServer } = await loadServer();
  const server = await PostgresServer.start();
  project.provide('postgresPort', server.port);
  return async (): Promise<void> => server[Symbol.asyncDispose]();
}
