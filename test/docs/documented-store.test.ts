import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeConformance } from 'holdpoint/testing/store';
import { describe, expect, test } from 'vitest';
import { mapStore } from '../support/map-store.ts';

const root = join(import.meta.dirname, '..', '..');

test('docs/stores.md shows the store that is tested here', () => {
  const source = readFileSync(join(root, 'test/support/map-store.ts'), 'utf8');
  expect(readFileSync(join(root, 'docs/stores.md'), 'utf8')).toContain(source);
});

describe('the store that docs/stores.md shows', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const threads = new Map();
    await check(mapStore(threads), () => mapStore(threads));
  });
});
