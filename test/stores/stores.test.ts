import { storeConformance } from 'holdpoint/testing/store';
import { describe, test } from 'vitest';
import { storeKits } from '../support/store-kits.ts';

describe.each(storeKits)('$name', ({ keep }) => {
  test.each(storeConformance)('$name', async ({ check }) => {
    using kept = keep();
    await check(kept.open(), () => kept.open());
  });
});
