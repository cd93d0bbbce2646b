import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const records = globSync('adr/0*.md', { cwd: root }).toSorted();
const kept = new Set(records.map((record) => Number(basename(record).slice(0, 4))));
const index = read('adr/README.md');
const files = globSync(['*.ts', '{src,test}/**/*'], { cwd: root });
const fileNames = new Set(files.map((file) => basename(file)));

const code = /`([^`\n]+)`/g;
const path = /^(?:src|test|docs|examples)\/\S*$/;
const bareFile = /^[\w.-]+\.tsx?$/;
const link = /\]\(([^)#:]+\.md)\)/g;

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function listNumbers(text: string): number[] {
  return [...text.matchAll(/\d+/g)].map(([number]) => Number(number));
}

/** The records that a text cites. */
function listCited(text: string): number[] {
  return [...text.matchAll(/\bADR (\d+)\b/g)].map(([, number]) => Number(number));
}

function exists(name: string): boolean {
  if (path.test(name)) return existsSync(join(root, name));
  return !bareFile.test(name) || fileNames.has(name);
}

test('a record has 40 to 70 lines', () => {
  const lengths = records.map((record) => [record, read(record).trimEnd().split('\n').length]);
  expect(lengths.filter(([, length]) => Number(length) < 40 || Number(length) > 70)).toEqual([]);
});

test('the index says of each number where its record is', () => {
  const rows = [...index.matchAll(/^\| \[(\d+)\]\((.*?)\) +\|.*\|(.*)\|$/gm)];
  expect(rows.map(([, , file]) => `adr/${file}`)).toEqual(records);
  const moved = listNumbers(
    /^Moved elsewhere:.*$/m.exec(index)?.[0].replaceAll(/\(.*?\)/g, '') ?? '',
  );
  const taken = rows.flatMap(([, , , numbers = '']) => listNumbers(numbers));
  const all = [...kept, ...taken, ...moved].toSorted((one, other) => one - other);
  expect(all).toEqual(all.map((_, nth) => nth + 1));
});

test('each record is cited by the code that it guards, and no other is cited', () => {
  const sources = globSync(['*.{md,ts}', '{src,test,docs,examples}/**/*.{ts,tsx,md}'], {
    cwd: root,
  });
  const cited = sources.flatMap((file) =>
    listCited(read(file)).map((number) => ({ file, number })),
  );
  expect(cited.filter(({ number }) => !kept.has(number))).toEqual([]);
  const guarding = cited.filter(
    ({ file }) => file.startsWith('src/') || file === 'rolldown.config.ts',
  );
  const numbers = new Set(guarding.map(({ number }) => number));
  expect([...kept].filter((number) => !numbers.has(number))).toEqual([]);
});

test('the files and folders that the ADRs name exist', () => {
  expect(records.length).toBeGreaterThan(25);
  const offenders = records.flatMap((record) => {
    const text = read(record);
    const named = [...text.matchAll(code)].map(([, name = '']) => name);
    const linked = [...text.matchAll(link)].map(([, target = '']) => target);
    return [
      ...named.filter((name) => !exists(name)),
      ...linked.filter((target) => !existsSync(join(root, 'adr', target))),
    ].map((name) => `${record}: ${name}`);
  });
  expect(offenders).toEqual([]);
});
