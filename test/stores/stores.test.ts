import { describe, test } from 'vitest';
import { storeKits } from '../support/store-kits.ts';
import { conformance } from './conformance.ts';

describe.each(storeKits)('$name', ({ keep }) => {
  test.each(conformance)('$name', async ({ check }) => {
    using kept = keep();
    await check(kept.open(), () => kept.open());
  });
});
