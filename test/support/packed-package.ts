import { execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** Unpacks what `npm pack` makes into the `node_modules` of a project, beside the packages that it depends on. */
export async function installPacked(project: string): Promise<void> {
  const run = (program: string, ...parameters: string[]): unknown =>
    execFileSync(program, parameters, { cwd: root, stdio: 'pipe' });
  const { version, dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  run('npm', 'pack', '--pack-destination', project);
  const place = join(project, 'node_modules/holdpoint');
  await mkdir(place, { recursive: true });
  const tarball = join(project, `holdpoint-${version}.tgz`);
  run('tar', 'xzf', tarball, '-C', place, '--strip-components=1');
  await linkPackages(project, Object.keys(dependencies));
}

/** Links packages of the repository into the `node_modules` of a project. */
export async function linkPackages(project: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const link = join(project, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, 'node_modules', name), link);
  }
}

/** The text with `by` in the place of `old`, which it must contain. */
export function replaceOnce(text: string, old: string, by: string): string {
  if (!text.includes(old)) throw new Error(`The text does not contain ${old}.`);
  return text.replace(old, () => by);
}
