/* Says which mutants would fail for their own text: their line of the source is gone, or no test has their name. It runs no test. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';
import { sourceMutants } from './source-mutants.ts';

const root = join(import.meta.dirname, '..', '..');

const isDeep = (suite: string): boolean => suite.endsWith('.deep');
const suites = [...new Set(sourceMutants.map(({ suite: [path] }) => path))];

/** The full names of the tests of some suites, by file. */
async function collectNames(config: string, files: readonly string[]) {
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

const findFile = (suite: string): string => `test/${suite}${isDeep(suite) ? '' : '.test'}.ts`;
const quick = suites.filter((suite) => !isDeep(suite)).map(findFile);
const deep = suites.filter(isDeep).map(findFile);
const names = new Map([
  ...(await collectNames('test/vitest.config.ts', quick)),
  ...(await collectNames('test/deep.config.ts', deep)),
]);

for (const { promise, file, from, suite } of sourceMutants) {
  if (!readFileSync(join(root, 'src', file), 'utf8').includes(from)) {
    console.error(`${promise}: src/${file} has no line '${from}'.`);
    process.exitCode = 1;
  }
  const [path, name] = suite;
  const module = findFile(path);
  const pattern = new RegExp(name);
  if (!(names.get(module) ?? []).some((full) => pattern.test(full))) {
    console.error(`${promise}: ${module} has no test '${name}'.`);
    process.exitCode = 1;
  }
}
