import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Promises of the source that the schedules must miss at once when they are broken. */
const mutants: [promise: string, file: string, from: string, to: string][] = [
  [
    'a run that lost its lease stops (the fence)',
    'agent/lease.ts',
    'return state.head.run?.runId === this.#runId;',
    'return true;',
  ],
  ['one run at a time', 'agent/run.ts', '!isRunning && ', ''],
  [
    'a start is recorded before it is done',
    'agent/run.ts',
    'return this.#begin(await this.#lease.commit(make, options));',
    'return this.#lease.commit((proposal) => this.#begin(make(proposal)), options);',
  ],
  [
    'what others appended first is read before it is decided again',
    'thread/thread-log.ts',
    'if (isConflict(error) || ',
    'if (isConflict(error)) return true; if (',
  ],
];

/** The project in a folder of its own, with one line of its source changed. */
function mutated(file: string, from: string, to: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-mutant-'));
  for (const part of ['package.json', 'tsconfig.json', 'src', 'test']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'src', file);
  const source = readFileSync(path, 'utf8');
  expect(source).toContain(from);
  writeFileSync(path, source.replace(from, to));
  return folder;
}

test.each(mutants)('the interleavings find out where not: %s', (_promise, file, from, to) => {
  const folder = mutated(file, from, to);
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const parameters = ['run', '--config', 'test/vitest.config.ts', 'test/faults/interleavings'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, ...parameters], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, HOLDPOINT_TIMES: '1', NO_COLOR: '1' },
    });
    const said = stdout + stderr;
    expect(status).toBe(1);
    expect(said).toMatch(/FAIL.*no promise is broken/);
    console.log(/(?:Got|Error): [^\n]*/.exec(said)?.[0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
