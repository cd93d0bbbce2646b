import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'holdpoint');

/**
 * A folder in which these packages, by name and exact version, are installed: what only deep tests need, and is too large for everybody's `npm ci`.
 */
export async function cachedPackage(versions: Record<string, string>): Promise<string> {
  const names = Object.entries(versions).map(([name, version]) => `${name}@${version}`);
  return cachedFolder(names.join('_').replaceAll('/', '-'), async (folder) => {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await promisify(execFile)(
      'npm',
      ['install', '--no-audit', '--no-fund', '--save-exact', ...names],
      { cwd: folder },
    );
  });
}

/** A folder that is filled once for each checkout, and given its name only when it is full, so that what a killed test has left is never used. */
export async function cachedFolder(
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${process.pid}`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await fill(unfinished);
  try {
    await rename(unfinished, folder);
  } catch (error) {
    /* Another test file was faster. */
    if (!existsSync(folder)) throw error;
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
