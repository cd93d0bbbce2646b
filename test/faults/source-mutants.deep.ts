import { afterAll, expect, test } from 'vitest';
import { locateMutant } from './locate-mutant.ts';
import { MutatedProject } from './mutated-project.ts';
import { pickShard } from './pick-shard.ts';
import { sourceMutants } from './source-mutants.ts';

const project = new MutatedProject();
afterAll(async () => project[Symbol.asyncDispose]());

const mutants = pickShard(sourceMutants, process.env['HOLDPOINT_MUTANTS']);

test.each(mutants)('the tests find out where not: $promise', async (mutant) => {
  const [, name] = mutant.suite;
  const { hasFailed, said: report, file } = await project.runBroken(mutant);
  const said = `${mutant.within} in ${file}, listed in ${locateMutant(mutant.promise)}:\n${report}`;
  expect(said).toMatch(new RegExp(`FAIL.*${name}`));
  expect(said).toMatch(mutant.sentence);
  expect({ hasFailed, said }).toMatchObject({ hasFailed: true });
  console.log(`${mutant.promise}: ${mutant.sentence.exec(said)?.[0]}`);
});

/* Else what they found may not have been what was broken just then. The deep ones have many other runs. */
const suites = Map.groupBy(
  mutants.map(({ suite }) => suite).filter(([file]) => !file.endsWith('.deep')),
  ([file]) => file,
);

test.each([...suites])('nothing is found once the source is whole again: %s', async (file, all) => {
  const names = all.map(([, name]) => name).join('|');
  const { hasFailed, said } = await project.runWhole(file, names);
  expect(said).not.toContain('FAIL');
  expect(said).toMatch(/Tests +[1-9]\d* passed/);
  expect(hasFailed).toBe(false);
});
