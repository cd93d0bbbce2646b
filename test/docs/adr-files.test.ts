import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const records = globSync('adr/*.md', { cwd: root }).toSorted();
const files = globSync(['*.ts', '{src,test}/**/*'], { cwd: root });
const fileNames = new Set(files.map((file) => basename(file)));

const code = /`([^`\n]+)`/g;
const path = /^(?:src|test|docs|examples)\/\S*$/;
const bareFile = /^[\w.-]+\.tsx?$/;
const link = /\]\(([^)#:]+\.md)\)/g;

function exists(name: string): boolean {
  if (path.test(name)) return existsSync(join(root, name));
  return !bareFile.test(name) || fileNames.has(name);
}

test('the files and folders that the ADRs name exist', () => {
  expect(records.length).toBeGreaterThan(25);
  const offenders = records.flatMap((record) => {
    const text = readFileSync(join(root, record), 'utf8');
    const named = [...text.matchAll(code)].map(([, name = '']) => name);
    const linked = [...text.matchAll(link)].map(([, target = '']) => target);
    return [
      ...named.filter((name) => !exists(name)),
      ...linked.filter((target) => !existsSync(join(root, 'adr', target))),
    ].map((name) => `${record}: ${name}`);
  });
  expect(offenders).toEqual([]);
});
