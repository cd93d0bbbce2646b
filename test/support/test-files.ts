import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/* What other files in the same process would notice: other timers, globals and listeners; or what notices them, by counting objects. */
const ownProcess =
  /useFakeTimers|stubEnv|stubGlobal|globalThis\.[A-Z_]+ =|process\.on\(|queryObjects|tracing\.ts|play-(?:interleaving|claims)\.ts|counted-work\.ts/;
/* What has only some of its cases in `npm test`. */
const sampled = /(?:sampling|every-store|play-stories)\.ts/;
const sharedPostgres = /(?:shared-postgres|every-store)\.ts/;

/** The files of `npm test` that try only some of their cases there. */
export function sampledFiles(): string[] {
  const all = globSync('test/**/*.test.ts', { cwd: root });
  return all.filter((path) => sampled.test(readFileSync(join(root, path), 'utf8')));
}

/** The test files whose names end so, by what they need to run. */
export function testFiles(ending: 'test.ts' | 'deep.ts') {
  const all = globSync(`test/**/*.${ending}`, { cwd: root });
  const text = (path: string): string => readFileSync(join(root, path), 'utf8');
  const withPostgres = all.filter((path) => sharedPostgres.test(text(path)));
  const others = all.filter((path) => !withPostgres.includes(path));
  return {
    withPostgres,
    inOwnProcess: others.filter((path) => ownProcess.test(text(path))),
    inSharedProcess: others.filter((path) => !ownProcess.test(text(path))),
  };
}
