import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mustHold } from '../faults/seeded-check.ts';
import { playTenants, tenantMessages } from './play-tenants.ts';
import { modes } from './tenants.ts';

const times = Number(process.env['HOLDPOINT_TIMES'] ?? 20);

test.each(modes)(
  'whatever two companies send to a tool server (%s), each sees what it would see alone',
  async (mode) => {
    const property = fc.asyncProperty(tenantMessages, async (played) => {
      expect(await playTenants(played, mode)).toEqual([]);
    });
    await mustHold(property, { numRuns: 10 * times });
  },
);
