import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { playTenants, tenantMessages } from './play-tenants.ts';
import { modes } from './tenants.ts';
import { countTrials } from '../support/sampling.ts';

test.each(modes)(
  'whatever two companies send to a tool server (%s), each sees what it would see alone',
  async (mode) => {
    const property = fc.asyncProperty(tenantMessages, async (played) => {
      expect(await playTenants(played, mode)).toEqual([]);
    });
    await fc.assert(property, {
      seed: 41,
      numRuns: countTrials(50),
      interruptAfterTimeLimit: 20_000,
    });
  },
);
