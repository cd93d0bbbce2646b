import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'holdpoint');

/**
 * A folder in which these packages, by name and exact version, are installed: what only deep tests need, and is too large for everybody's `npm ci`.
 * It is installed once for each checkout, and given its name only when npm has ended, so that a killed installation is never used.
 */
export async function cachedPackage(versions: Record<string, string>): Promise<string> {
  const names = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  const folder = join(cache, names.join('_').replaceAll('/', '-'));
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(join(unfinished, 'package.json'), '{ "private": true, "type": "module" }');
  await promisify(execFile)(
    'npm',
    ['install', '--no-audit', '--no-fund', '--save-exact', ...names],
    {
      cwd: unfinished,
    },
  );
  try {
    await rename(unfinished, folder);
  } catch (error) {
    /* Another test file was faster. */
    if (!existsSync(folder)) throw error;
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
