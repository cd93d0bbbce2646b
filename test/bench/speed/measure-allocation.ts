import { median } from '../measure.ts';
import { aiCompetitor } from './ai-competitor.ts';
import type { Competitor } from './competitor.ts';
import { ownCompetitor } from './own-competitor.ts';
import type { SpeedRow } from './speed-row.ts';
import { askForCalls } from './speed-task.ts';

/* So few that their garbage fits into the young generation, which would be collected otherwise. */
const cyclesAtOnce = 4;

/** How much a warm cycle allocates. */
export async function measureAllocation(rounds: number): Promise<SpeedRow[]> {
  const task = askForCalls(1);
  const ai = await bytesOfCycle(aiCompetitor({ task, warm: true }), rounds);
  const own = await bytesOfCycle(ownCompetitor({ task, keeps: 'agent' }), rounds);
  const from = `${Math.round(own / 1_024)} over ${Math.round(ai / 1_024)} KiB`;
  return [{ name: 'allocated in a warm cycle', first: [], steady: [own / ai], from }];
}

async function bytesOfCycle(competitor: Competitor, rounds: number): Promise<number> {
  const cycle = await competitor.prepare();
  for (let warm = 0; warm < 500; warm += 1) await cycle();
  const found: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.({ type: 'minor' });
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < cyclesAtOnce; count += 1) await cycle();
    found.push((process.memoryUsage().heapUsed - before) / cyclesAtOnce);
  }
  return median(found);
}
