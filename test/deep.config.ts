import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { openRunFolder } from './support/run-folder.ts';
import { sampledFiles, testFiles } from './support/test-files.ts';

openRunFolder();

const conditions = ['holdpoint-source'];
const globalSetup = 'test/support/start-shared-postgres.ts';
const { inSharedProcess, inOwnProcess, withPostgres } = testFiles('deep.ts');

/* They measure time or memory, or depend on a machine that keeps up; nothing else runs meanwhile. */
const measured = [
  'test/faults/soak.deep.ts',
  'test/inert-text.deep.ts',
  'test/rap/load.deep.ts',
  'test/stores/explain.deep.ts',
  'test/stores/fleets.deep.ts',
  'test/stores/sqlite.deep.ts',
  'test/thread/bytes.deep.ts',
];

/*
 * They take many minutes each, so they begin first: otherwise one worker has the last of them while the others have nothing to do. Jobs that
 * run side by side share out their cases; see `.ci/run`.
 */
const longest = [
  'crash-points-of-tools',
  'crash-points-with-others',
  'crash-points',
  'source-mutants',
].map((name) => `test/faults/${name}.deep.ts`);

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((path) => moduleId.endsWith(path));
  return place < 0 ? longest.length : place;
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { sort } = BaseSequencer.prototype;
    const sorted = await sort.call(this, files);
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

/** `npm run test:deep`: every `*.deep.ts`, which are too slow for `npm test`, and all cases of what is sampled there. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    env: { HOLDPOINT_CASES: 'all' },
    testTimeout: 1_800_000,
    /* To remove the copies of a whole project takes a while on a busy machine. */
    hookTimeout: 120_000,
    /* The default of a second is too short where several browsers and databases run. */
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'deep',
          include: [...inSharedProcess, ...inOwnProcess],
          exclude: [...measured, ...longest],
        },
      },
      { extends: true, test: { name: 'longest', include: longest } },
      {
        extends: true,
        test: { name: 'postgres', include: withPostgres, exclude: measured, globalSetup },
      },
      { extends: true, test: { name: 'all cases', include: sampledFiles(), globalSetup } },
      {
        extends: true,
        test: {
          name: 'measured',
          include: measured,
          globalSetup,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
