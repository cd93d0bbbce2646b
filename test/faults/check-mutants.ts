/* Says which mutants would fail for their own text: their piece of the source is gone, or no test has their name. It runs no test. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { findLostPieces } from './find-piece.ts';
import { locateMutant } from './locate-mutant.ts';
import { type SourceMutant, sourceMutants } from './source-mutants.ts';
import { readWrittenNames } from './written-names.ts';

/* Mutants are tried with all cases. */
process.env['HOLDPOINT_CASES'] = 'all';

const root = join(import.meta.dirname, '..', '..');

const isDeep = (file: string): boolean => file.endsWith('.deep.ts');
const findFile = ({ suite: [suite] }: SourceMutant): string =>
  `test/${suite}${suite.endsWith('.deep') ? '' : '.test'}.ts`;

/** The full names of the tests of some files, by file. It loads them, which takes a while. */
async function collectNames(config: string, files: readonly string[]) {
  if (files.length === 0) return [];
  const vitest = await createVitest({ config, root, watch: false });
  try {
    const specifications = await vitest.globTestSpecifications([...files]);
    const { testModules } = await vitest.collectTests(specifications);
    return testModules.map((module): [string, string[]] => [
      module.relativeModuleId,
      [...module.children.allTests()].map(({ fullName }) => fullName.replaceAll(' > ', ' ')),
    ]);
  } finally {
    await vitest.close();
  }
}

/** The mutants whose test has none of the names of its file. */
function omitNamed(mutants: readonly SourceMutant[], names: ReadonlyMap<string, string[]>) {
  return mutants.filter((mutant) => {
    const pattern = new RegExp(mutant.suite[1]);
    return !(names.get(findFile(mutant)) ?? []).some((name) => pattern.test(name));
  });
}

const files = [...new Set(sourceMutants.map(findFile))].filter((file) =>
  existsSync(join(root, file)),
);
const written = new Map(files.map((file) => [file, readWrittenNames(join(root, file))]));
const unwritten = omitNamed(sourceMutants, written);
const unsure = files.filter((file) => unwritten.some((mutant) => findFile(mutant) === file));
const collected = new Map([
  ...(await collectNames(
    'test/vitest.config.ts',
    unsure.filter((file) => !isDeep(file)),
  )),
  ...(await collectNames('test/deep.config.ts', unsure.filter(isDeep))),
]);
const nameless = omitNamed(unwritten, collected).map(
  (mutant) =>
    `${locateMutant(mutant.promise)}: ${mutant.promise}: ${findFile(mutant)} has no test '${mutant.suite[1]}'.`,
);

const faults = [...findLostPieces(join(root, 'src'), sourceMutants), ...nameless];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
