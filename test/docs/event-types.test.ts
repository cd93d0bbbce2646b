import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { threadEventSchema } from '../../src/thread/thread-event.ts';

const root = join(import.meta.dirname, '..', '..');

test('docs/concepts.md names every event of a log, and no other', () => {
  const page = readFileSync(join(root, 'docs/concepts.md'), 'utf8');
  const types = threadEventSchema.options.map(({ shape }) => shape.type.value);
  const [, section = ''] = page.split('\n## The log\n');
  const rows = [
    ...section
      .split('\n\n', 2)
      .join('')
      .matchAll(/^\| (`.*?`) +\|/gm),
  ];
  const named = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([\w-]+)`/g)]);
  expect(types.length).toBeGreaterThan(15);
  expect(new Set(named.map(([, type]) => type))).toEqual(new Set<string | undefined>(types));
});
