import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { findPlaceInMemory, openRunFolder } from './support/run-folder.ts';
import { testFiles } from './support/test-files.ts';

openRunFolder(findPlaceInMemory());

const conditions = ['holdpoint-source'];
const { inSharedProcess, inOwnProcess, withPostgres } = testFiles('test.ts');

/** `npm test`: every `*.test.ts`. Those that change nothing others would notice share a process and its imports. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    testTimeout: 60_000,
    reporters: ['dot'],
    silent: 'passed-only',
    setupFiles: 'test/support/quiet-warnings.ts',
    /* More than there are cores: many tests wait for a terminal, another process, or a second to pass. */
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        extends: true,
        /* Threads start sooner than processes, and cost less time. */
        test: { name: 'shared process', include: inSharedProcess, isolate: false, pool: 'threads' },
      },
      { extends: true, test: { name: 'own process', include: inOwnProcess } },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: withPostgres,
          isolate: false,
          globalSetup: 'test/support/start-shared-postgres.ts',
        },
      },
    ],
  },
});
