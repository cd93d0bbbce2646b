/* Sets each size budget of `package.json` 2 % above the built size. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const root = join(import.meta.dirname, '..', '..');
const path = join(root, 'package.json');
const measuredSchema = z.array(z.object({ name: z.string(), size: z.number() }));

/** `limit` is the third line of a budget in `package.json`, after its name and its path. */
const budget = /("name": "(.*)",\n.*\n +"limit": )".*"/g;

const { stdout } = spawnSync('npx', ['size-limit', '--json'], { cwd: root, encoding: 'utf8' });
const sizes = new Map(
  measuredSchema.parse(JSON.parse(stdout)).map(({ name, size }) => [name, size]),
);

function raise(before: string, name: string): string {
  const size = sizes.get(name);
  if (size === undefined) throw new Error(`size-limit measured no '${name}'.`);
  return `${before}"${Math.ceil((size * 1.02) / 100) / 10} kB"`;
}

const manifest = readFileSync(path, 'utf8');
const written = manifest.replace(budget, (_, before: string, name: string) => raise(before, name));
writeFileSync(path, written);
