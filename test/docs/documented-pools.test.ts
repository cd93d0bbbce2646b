import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const shown = '{README.md,docs/**/*.md,examples/**/*.{ts,mts},src/**/*.ts}';

/** The pools that a file creates, each with the lines that follow. Code in the middle of a sentence creates none. */
function listPools(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const pools = text.matchAll(/^(?!- \*\*).*[=(] ?new Pool\(.*\n(?:.*\n){2}/gm);
  return [...pools].map(([lines]) => `${file}: ${lines}`);
}

test('each pool in the docs, the examples and the docstrings has a listener, without which a connection that drops ends the process', () => {
  const pools = globSync(shown, { cwd: root }).flatMap(listPools);
  expect(pools.filter((lines) => !lines.includes("pool.on('error'"))).toEqual([]);
  expect(pools.length).toBeGreaterThan(6);
});
