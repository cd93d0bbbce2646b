/* First, as it has ids counted that others make at random. */
import { playClaims } from './play-claims.ts';

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fatesOfAll, leavers, leaveEverywhere } from './claim-crashes.ts';
import { makeMemoryGround } from './claim-grounds.ts';
import { claimSchedules, undisturbed } from './claim-schedules.ts';
import { mustHold } from './seeded-check.ts';
import { countTrials, pickCases } from '../support/sampling.ts';

/* A few of each; the deep tests try thousands, on all stores. */
const schedules = countTrials(25);

test('whichever workers die or stop, and whatever notices are lost, no due thread waits longer than a poll', async () => {
  const property = fc.asyncProperty(claimSchedules, async (schedule) => {
    const { faults } = await playClaims(schedule, makeMemoryGround);
    expect(faults).toEqual([]);
  });
  await mustHold(property, { numRuns: schedules });
});

test.each(pickCases(leavers))('nor where %s, at whichever point', async (_who, at) => {
  const ends = await leaveEverywhere(at, fatesOfAll.arrive, makeMemoryGround);
  expect(ends.filter(({ faults }) => faults.length > 0)).toEqual([]);
  expect(ends.length).toBeGreaterThan(5);
});

test('a worker that was full takes what it has heard of as soon as it has room', async () => {
  const threads = [
    { calls: [['book', 'Paris']], answers: [{ at: 100 }] } as const,
    { calls: [['book', 'Rome']], answers: [{ at: 150 }] } as const,
  ];
  const worker = { startsAt: 0, skewMs: 0, concurrency: 1, isOlder: false };
  const { faults } = await playClaims(
    { ...undisturbed, workers: [worker], threads, labours: [300] },
    makeMemoryGround,
  );
  expect(faults).toEqual([]);
});
