import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PieceFinder } from './find-piece.ts';
import type { SourceMutant } from './source-mutants.ts';
import { type SuiteOrder, type SuiteReport, suiteReportSchema } from './suite-order.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * A copy of the project whose source is broken one piece at a time. Its tests run in processes that stay, one for each configuration of
 * Vitest. It is a copy on disk, since some tests start processes that read the source themselves.
 */
export class MutatedProject {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdpoint-mutant-'));
  readonly #source = join(this.#folder, 'src');
  readonly #finder = new PieceFinder(join(root, 'src'));
  readonly #runners = new Map<string, Promise<ChildProcess>>();

  constructor() {
    for (const part of ['package.json', 'tsconfig.json', 'examples', 'src', 'test']) {
      cpSync(join(root, part), join(this.#folder, part), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Runs the tests of a suite while one piece of the source is broken; `file` is where that piece stands. */
  async runBroken({
    within,
    from,
    to,
    suite,
  }: SourceMutant): Promise<SuiteReport & { file: string }> {
    const { file, start, end } = this.#finder.find(within, from);
    const path = join(this.#source, file);
    const source = readFileSync(path, 'utf8');
    writeFileSync(path, source.slice(0, start) + to + source.slice(end));
    const [suiteFile, name] = suite;
    try {
      const report = await this.#run(suiteFile, { name, changed: [path] });
      return { ...report, file: `src/${file}` };
    } finally {
      writeFileSync(path, source);
    }
  }

  /** Runs tests of a suite of the source as it is. */
  async runWhole(suite: string, name: string): Promise<SuiteReport> {
    return this.#run(suite, { name, changed: [] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const starting of this.#runners.values()) {
      const runner = await starting;
      if (!runner.connected) continue;
      const exited = once(runner, 'exit');
      runner.disconnect();
      await exited;
    }
    rmSync(this.#folder, { recursive: true });
  }

  async #run(suite: string, order: Omit<SuiteOrder, 'suite'>): Promise<SuiteReport> {
    const [config, path] = suite.endsWith('.deep')
      ? ['test/deep.config.ts', `test/${suite}.ts`]
      : ['test/vitest.config.ts', `test/${suite}.test.ts`];
    const starting = this.#runners.get(config) ?? this.#startRunner(config);
    this.#runners.set(config, starting);
    const runner = await starting;
    const answer = nextMessage(runner);
    runner.send({ ...order, suite: path });
    return suiteReportSchema.parse(await answer);
  }

  async #startRunner(config: string): Promise<ChildProcess> {
    const runner = fork(join(this.#folder, 'test/faults/suite-runner-process.ts'), [config], {
      cwd: this.#folder,
      execArgv: [],
      env: {
        ...process.env,
        HOLDPOINT_CASES: 'all',
        HOLDPOINT_SHARD: '1/1',
        HOLDPOINT_TIMES: '1',
        HOLDPOINT_CRASH_STRIDE: '100',
        NO_COLOR: '1',
      },
    });
    await nextMessage(runner);
    return runner;
  }
}

async function nextMessage(runner: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const { signal } = ended;
  const exit = once(runner, 'exit', { signal }).then(([code]) => {
    throw new Error(`The process of the tests ended with ${code}.`);
  });
  try {
    return (await Promise.race([once(runner, 'message', { signal }), exit]))[0];
  } finally {
    exit.catch(() => {});
    ended.abort();
  }
}
