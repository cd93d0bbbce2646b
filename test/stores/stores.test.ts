import { storeConformance } from 'holdpoint/testing/store';
import { describe, test } from 'vitest';
import { allStoreKits } from '../support/store-kits.ts';

describe.each(allStoreKits)('$name', ({ keep }) => {
  test.each(storeConformance)('$name', async ({ check }) => {
    using kept = keep();
    await check(kept.open(), () => kept.open());
  });
});
