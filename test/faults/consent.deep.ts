import { test } from 'vitest';
import { memoryKit } from '../support/store-kits.ts';
import { playHistories } from './consent-property.ts';

const numRuns = Number(process.env['HOLDPOINT_TIMES'] ?? 10) * 100;

test('nothing starts but what enough people, each in a right of their own, said yes to as it ran', async () => {
  await playHistories(numRuns, async () => memoryKit.keep());
});
