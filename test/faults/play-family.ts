import { countIdsFrom } from './numbered-ids.ts';

import { vi } from 'vitest';
import { beginning, ClaimDraws } from './claim-draws.ts';
import { ClaimFamily, type FamilyWorker } from './claim-family.ts';
import type { MakeClaimGround } from './claim-grounds.ts';
import { busyMs, type Fate, undisturbed } from './claim-schedules.ts';
import { quietMs } from './play-claims.ts';

/** Workers of an agent and of its sub-agent, at which of its points whoever answers dies, and what becomes of all notices. */
export interface FamilyPlan {
  workers: readonly FamilyWorker[];
  answer?: number;
  fate: Fate;
}

/** What came of it. */
interface FamilyEnd {
  faults: string[];
  statuses: string[];
  payments: number;
  gone: number;
}

/** Plays until all is quiet. */
export async function playFamily(
  { workers, answer, fate }: FamilyPlan,
  makeGround: MakeClaimGround,
): Promise<FamilyEnd> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: beginning,
  });
  countIdsFrom(0);
  const fates = Array.from({ length: 500 }, () => fate);
  const draws = new ClaimDraws({ ...undisturbed, workers: [], threads: [], fates });
  try {
    using ground = await makeGround(draws);
    const family = new ClaimFamily(draws, ground);
    await family.open();
    for (const [index, worker] of workers.entries()) family.startWorker(`worker ${index}`, worker);
    setTimeout(() => void family.answer(answer), 300);
    await family.pass(busyMs + quietMs);
    const { faults, statuses } = await family.end();
    return { faults, statuses, payments: family.payments.length, gone: family.gone };
  } finally {
    vi.useRealTimers();
  }
}
