import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that are loaded with this one, itself among them, and the packages and built-in modules that they import. */
export function loadedWith(file: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const load = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const specifier of importsOf(readFileSync(path, 'utf8'))) {
      if (specifier.startsWith('.')) load(join(path, '..', specifier));
      else packages.add(specifier);
    }
  };
  load(file);
  return { files, packages };
}

/* Of built files: each import is a statement of its own at the start of a line. */
function importsOf(text: string): string[] {
  const found = text.matchAll(/^(?:import|export)\b[^;'"]*?(?:from\s*)?["']([^"']+)["'];$/gm);
  return [...found].flatMap(([, specifier]) => specifier ?? []);
}

/** For each built file, the modules that it was made from, as its source map names them. */
export function builtFrom(folder: string): { file: string; sources: string[] }[] {
  return globSync('**/*.js.map', { cwd: folder }).map((file) => {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return { file, sources: sources.map((source) => join(folder, file, '..', source)) };
  });
}
