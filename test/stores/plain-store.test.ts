import { storeConformance } from 'holdpoint/testing/store';
import { describe, test } from 'vitest';
import { mapStore } from '../support/map-store.ts';

describe('a store that has no optional part', () => {
  test.each(storeConformance)('$name', async ({ check }) => {
    const threads = new Map();
    await check(mapStore(threads), () => mapStore(threads));
  });
});
