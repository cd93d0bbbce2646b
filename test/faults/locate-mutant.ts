import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** The file of `test/faults` that lists the mutant with a promise. */
export function locateMutant(promise: string): string {
  const bare = promise.replace(/^at random: /, '');
  const written = [`'${bare}'`, `"${bare}"`, `\`${bare}\``];
  const file = globSync('test/faults/*-mutants.ts', { cwd: root }).find((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return written.some((literal) => text.includes(literal));
  });
  return file ?? 'test/faults';
}
