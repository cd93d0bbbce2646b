import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deadlineActionSchemas } from '../../src/content/deadline-action.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

test('the guide about deadlines has a row for every deadline action', () => {
  const guide = readFileSync(join(docs, 'guides', 'deadlines.md'), 'utf8');
  const [, table = ''] = guide.split('| `onExpiry`');
  const rows = [...table.matchAll(/^\| (`.*?) +\|/gm)].map(([, action = '']) => action);
  const named = rows.map((row) => /^`'([a-z-]+)'|type: '([a-z-]+)'/.exec(row));
  const actions = [...Object.keys(deadlineActionSchemas), 'wait'];
  expect(named.map((found) => found?.[1] ?? found?.[2])).toEqual(actions);
});
