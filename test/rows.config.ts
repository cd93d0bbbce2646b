import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { openRunFolder } from './support/run-folder.ts';
import { testFiles } from './support/test-files.ts';

openRunFolder();

const conditions = ['holdpoint-source'];
const { inSharedProcess, inOwnProcess } = testFiles('test.ts');
/* Here rows are changed behind the back of their log. */
const exclude = [
  'test/agent/agent-requests.test.ts',
  'test/inbox/answers.test.ts',
  'test/inbox/bounds.test.ts',
  'test/policy/edits-elsewhere.test.ts',
  'test/thread/stored-requests.test.ts',
];

/** Every `*.test.ts` without Postgres, where the rows of each thread are compared with its log after each test. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['dot'],
    silent: true,
    maxWorkers: availableParallelism(),
    setupFiles: ['test/support/check-rows.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'shared process', include: inSharedProcess, exclude, isolate: false },
      },
      { extends: true, test: { name: 'own process', include: inOwnProcess } },
    ],
  },
});
