import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pickCases } from '../support/sampling.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const documented = [
  ...read('docs/channels/page.md').matchAll(/```tsx\n\/\/ src\/(\S+)\n(.*?)```/gs),
]
  .map(([, name = '', code = '']) => ({ name, code }))
  .filter(({ name }) => ['App.tsx', 'Part.tsx'].includes(name));

test.each(pickCases(documented, 3))(
  'the page of the example with two people is the documented one: $name',
  ({ name, code }) => {
    expect(read(`examples/two-people/page/${name}`)).toBe(code);
  },
);

test('the documented page is markup of at most 120 lines', () => {
  expect(documented.map(({ name }) => name)).toEqual(['App.tsx', 'Part.tsx']);
  const lines = documented.flatMap(({ code }) => code.trimEnd().split('\n'));
  expect(lines.length).toBeLessThan(121);
});
