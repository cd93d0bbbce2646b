import type { MakeClaimGround } from './claim-grounds.ts';
import { type ClaimSchedule, type Fate, undisturbed, type WorkerPlan } from './claim-schedules.ts';
import { playClaims } from './play-claims.ts';

/** At which of its points each process goes: the first workers, and whoever gives the first answer. */
export interface Leavings {
  workers: readonly Pick<WorkerPlan, 'diesAt' | 'stopsAt'>[];
  answer?: number;
}

/** Who goes at a point, one at a time. */
export const leavers: readonly [who: string, at: (point: number) => Leavings][] = [
  ['the first worker dies', (point) => ({ workers: [{ diesAt: point }] })],
  ['the second worker dies', (point) => ({ workers: [{}, { diesAt: point }] })],
  ['the first worker stops', (point) => ({ workers: [{ stopsAt: point }] })],
  ['who answers dies', (point) => ({ workers: [], answer: point })],
];

/** What becomes of all notices. */
export const fatesOfAll: Record<'arrive' | 'are lost' | 'arrive twice', Fate> = {
  arrive: [1],
  'are lost': [],
  'arrive twice': [1, 5],
};

/** Workers, the last of which stays, and a thread with three answers before the first poll: all know each other by the second one. */
function scheduleWith({ workers, answer }: Leavings, fate: Fate): ClaimSchedule {
  const calls = ['Paris', 'Rome', 'Oslo'].map((city) => ['book', city] as const);
  const well = { startsAt: 0, skewMs: 0, concurrency: 2, isOlder: false };
  return {
    ...undisturbed,
    workers: [...workers, {}].map((leaving) => ({ ...well, ...leaving })),
    threads: [{ calls, answers: [{ at: 200, diesAt: answer }, { at: 400 }, { at: 600 }] }],
    fates: Array.from({ length: 500 }, () => fate),
  };
}

/** What came of it. */
export interface LeavingEnd {
  leavings: Leavings;
  faults: string[];
  statuses: string[];
}

/** Lets processes go at each of their points in turn: `at` says who goes at the nth one. */
export async function leaveEverywhere(
  at: (point: number) => Leavings,
  fate: Fate,
  makeGround: MakeClaimGround,
): Promise<LeavingEnd[]> {
  const ends: LeavingEnd[] = [];
  for (let point = 1; ; point += 1) {
    const leavings = at(point);
    const { gone, faults, statuses } = await playClaims(scheduleWith(leavings, fate), makeGround);
    if (gone < countOf(leavings)) return ends;
    ends.push({ leavings, faults, statuses });
  }
}

/** How many processes are to go. */
function countOf({ workers, answer }: Leavings): number {
  const points = [...workers.flatMap(({ diesAt, stopsAt }) => [diesAt, stopsAt]), answer];
  return points.filter((point) => point !== undefined).length;
}
