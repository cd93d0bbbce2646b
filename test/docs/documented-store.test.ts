import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeConformance } from 'holdpoint/testing/store';
import { describe, expect, test } from 'vitest';
import { mapStore } from '../support/map-store.ts';

const root = join(import.meta.dirname, '..', '..');

test.each([
  ['docs/stores.md', 'a store', 'test/support/map-store.ts'],
  ['docs/stores.md', 'a driver', 'test/support/node-driver.ts'],
  ['docs/guides/webhooks.md', 'a program', 'test/support/send-webhooks-process.ts'],
  ['docs/guides/webhooks.md', 'its receiver', 'test/support/webhook-receiver.ts'],
  ['docs/runtimes.md', 'a Durable Object', 'test/runtimes/hosts/thread-object.ts'],
])('%s shows %s as it is tested', (page, _, file) => {
  const source = readFileSync(join(root, file), 'utf8');
  expect(readFileSync(join(root, page), 'utf8')).toContain(source);
});

describe('the store that docs/stores.md shows', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const threads = new Map();
    await check(mapStore(threads), () => mapStore(threads));
  });
});
