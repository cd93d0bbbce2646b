import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pickShard } from './pick-shard.ts';
import { type SourceMutant, sourceMutants } from './source-mutants.ts';

const root = join(import.meta.dirname, '..', '..');

/** The project in a folder of its own, with one line of its source changed. */
function mutated({ file, from, to }: SourceMutant): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-mutant-'));
  for (const part of ['package.json', 'tsconfig.json', 'examples', 'src', 'test']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'src', file);
  const source = readFileSync(path, 'utf8');
  expect(source).toContain(from);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  return folder;
}

test.each(pickShard(sourceMutants))('the tests find out where not: $promise', (mutant) => {
  const folder = mutated(mutant);
  const [file, name] = mutant.suite;
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const [config, path] = file.endsWith('.deep')
      ? ['test/deep.config.ts', `test/${file}.ts`]
      : ['test/vitest.config.ts', `test/${file}.test.ts`];
    const parameters = ['run', '--config', config, path, '-t', name];
    const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, ...parameters], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        HOLDPOINT_SHARD: '1/1',
        HOLDPOINT_TIMES: '1',
        HOLDPOINT_CRASH_STRIDE: '100',
        NO_COLOR: '1',
      },
    });
    const said = stdout + stderr;
    expect(status).toBe(1);
    expect(said).toMatch(new RegExp(`FAIL.*${name}`));
    expect(said).toMatch(mutant.sentence);
    console.log(`${mutant.promise}: ${mutant.sentence.exec(said)?.[0]}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
