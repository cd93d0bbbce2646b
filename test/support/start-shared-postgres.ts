import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    postgresPort: number;
  }
}

/*
 * The package with the server ends the process with 0 before it would end by itself, so that failed tests would pass, and throws when it
 * ends. Its hooks for signals stay: they stop the server when a run is interrupted.
 */
async function loadServer(): Promise<typeof import('./postgres-server.ts')> {
  const before = new Set([...process.listeners('beforeExit'), ...process.listeners('exit')]);
  const loaded = await import('./postgres-server.ts');
  for (const listener of process.listeners('beforeExit')) {
    if (!before.has(listener)) process.off('beforeExit', listener);
  }
  for (const listener of process.listeners('exit')) {
    if (!before.has(listener)) process.off('exit', listener);
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
