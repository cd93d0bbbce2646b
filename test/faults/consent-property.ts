import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { KeptThreads } from '../support/store-kits.ts';
import { histories } from './consent-histories.ts';
import { playHistory } from './consent-play.ts';

const seed = Number(process.env['HOLDPOINT_SEED'] ?? 41);

/** Plays histories, and fails with the first in which something starts that not enough people said yes to. */
export async function playHistories(
  numRuns: number,
  keep: () => Promise<KeptThreads>,
): Promise<void> {
  const property = fc.asyncProperty(histories, async (history) => {
    const { faults, story } = await playHistory(history, keep);
    expect({ faults, story: faults.length === 0 ? [] : story }).toEqual({ faults: [], story: [] });
  });
  await fc.assert(property, { seed, numRuns, endOnFailure: true });
}
