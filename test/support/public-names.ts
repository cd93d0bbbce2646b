import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A name that an entry of the package exports, and the file that declares it. */
export interface PublicName {
  entry: string;
  name: string;
  isType: boolean;
  file: string;
}

const exportList = /^export (?<type>type )?\{(?<names>[^}]*)\} from '(?<from>[^']+)';$/gm;
const declaration =
  /^export (?:async )?(?<kind>class|const|function|interface|type) (?<name>\w+)/gm;

/** The names that an entry exports, by its text: those that it declares, and those that it takes from other files. */
function namesOf(entry: string, file: string): PublicName[] {
  const text = readFileSync(file, 'utf8');
  const taken = [...text.matchAll(exportList)].flatMap(({ groups }) => {
    const names = groups?.['names']?.split(',').map((name) => name.trim()) ?? [];
    return names
      .filter((name) => name !== '')
      .map((name) => ({
        entry,
        name: name.replace('type ', ''),
        isType: groups?.['type'] !== undefined || name.startsWith('type '),
        file: join(dirname(file), groups?.['from'] ?? ''),
      }));
  });
  const declared = [...text.matchAll(declaration)].map(({ groups }) => ({
    entry,
    name: groups?.['name'] ?? '',
    isType: groups?.['kind'] === 'interface' || groups?.['kind'] === 'type',
    file,
  }));
  return [...taken, ...declared].filter(
    ({ name }, index, all) => all.findIndex((other) => other.name === name) === index,
  );
}

/** Every name that the package exports. */
export function publicNames(): PublicName[] {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries<{ 'holdpoint-source'?: string }>(manifest.exports).flatMap(
    ([entry, { 'holdpoint-source': source }]) =>
      source === undefined ? [] : namesOf(entry, join(root, source)),
  );
}

/** Whether a docstring stands above the declaration of a name. */
export function isDocumented({ name, file }: PublicName): boolean {
  const text = readFileSync(file, 'utf8');
  const declared = `export (?:async )?(?:class|const|function|interface|type) ${name}\\b`;
  if (new RegExp(`\\*/\\n${declared}`).test(text)) return true;
  const taken = namesOf('', file).find((other) => other.name === name && other.file !== file);
  return taken !== undefined && isDocumented(taken);
}
