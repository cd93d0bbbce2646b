import { countIdsFrom } from './numbered-ids.ts';

import { vi } from 'vitest';
import { beginning, ClaimDraws } from './claim-draws.ts';
import type { MakeClaimGround } from './claim-grounds.ts';
import { busyMs, claimMs, type ClaimSchedule, leaseMs, pollMs } from './claim-schedules.ts';
import { ClaimWorld } from './claim-world.ts';

/* Until the last claim and the last lease are over by every clock, and a poll has come twice. */
export const quietMs = leaseMs + claimMs + leaseMs + 3 * pollMs;

/** What a schedule came to. */
interface ClaimsEnd {
  faults: string[];
  statuses: string[];
  /** How many processes died, or were told to stop. */
  gone: number;
  /** How often a worker claimed a thread that it had heard of. */
  claims: number;
}

const well = { startsAt: busyMs, skewMs: 0, concurrency: 4, isOlder: false };

/** Plays a schedule until all is quiet, and audits it. */
export async function playClaims(
  schedule: ClaimSchedule,
  makeGround: MakeClaimGround,
): Promise<ClaimsEnd> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: beginning,
  });
  countIdsFrom(schedule.firstId);
  const draws = new ClaimDraws(schedule);
  try {
    using ground = await makeGround(draws);
    const world = new ClaimWorld(schedule, draws, ground);
    await world.openThreads();
    for (const [index, plan] of schedule.workers.entries()) {
      setTimeout(() => void world.startWorker(`worker ${index}`, plan), plan.startsAt);
    }
    for (const [index, { answers }] of schedule.threads.entries()) {
      for (const { at, diesAt } of answers) setTimeout(() => void world.answer(index, diesAt), at);
    }
    await world.pass(busyMs);
    if (world.alive === 0) await world.startWorker('the last worker', well);
    await world.pass(busyMs + quietMs);
    await world.probe();
    await world.end();
    const { faults, statuses } = await world.audit();
    return { faults, statuses, gone: world.deaths + world.stops, claims: world.namedClaims };
  } finally {
    vi.useRealTimers();
  }
}
