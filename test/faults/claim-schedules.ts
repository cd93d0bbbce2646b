import * as fc from 'fast-check';
import type { PlannedCall } from './stateless-model.ts';

/** How often workers of these worlds poll, in milliseconds. */
export const pollMs = 1_000;
/** How long a claim of theirs lasts. */
export const claimMs = 2_000;
/** How long a run of theirs holds its thread. */
export const leaseMs = 3_000;
/** How long a call of `hold` can be approved. */
export const holdMs = 1_500;
/** Until when people answer, workers die, and notices are lost. */
export const busyMs = 4_000;

/** What becomes of a notice on its way to one process: after how many milliseconds it arrives, each time that it does. */
export type Fate = readonly number[];

/** A worker, and what happens to it. */
export interface WorkerPlan {
  startsAt: number;
  /** How far its clock is ahead of the world's. */
  skewMs: number;
  concurrency: number;
  /** Whether it knows nothing of turns, as workers of the version before. */
  isOlder: boolean;
  /** At which of the points that it passes it dies: there is one before and one after all that it asks of anybody. */
  diesAt?: number | undefined;
  /** At which of them it is told to stop. */
  stopsAt?: number | undefined;
  /** When it hears nothing. */
  deafness?: { from: number; ms: number } | undefined;
}

/** A thread whose first message was sent, and when somebody answers the first of its open requests. */
interface ThreadPlan {
  calls: readonly PlannedCall[];
  answers: readonly { at: number; diesAt?: number | undefined }[];
}

/** Workers and people on one store, and all that goes wrong. Of what has run out, everything is well. */
export interface ClaimSchedule {
  workers: readonly WorkerPlan[];
  threads: readonly ThreadPlan[];
  /** With which number the ids of workers begin: whose turn comes first depends on them. */
  firstId: number;
  fates: readonly Fate[];
  /** Whether no notice comes to a process before one that was sent to it earlier, as on one connection. */
  keepsOrder: boolean;
  /** Whether the nth statement that notifies fails at once. */
  mutes: readonly boolean[];
  /** How long the store takes for the nth request. */
  delays: readonly number[];
  /** Whether the nth claim fails: before it is made, or when it is, so that only the reply is lost. */
  failures: readonly ('before' | 'after' | undefined)[];
  /** How long the nth call of a tool takes. */
  labours: readonly number[];
  /** Whether the nth request to the provider fails. */
  overloads: readonly boolean[];
}

/** All goes well. */
export const undisturbed = {
  firstId: 0,
  fates: [],
  keepsOrder: true,
  mutes: [],
  delays: [],
  failures: [],
  labours: [],
  overloads: [],
} as const;

const moments = fc.integer({ min: 0, max: busyMs });
const points = fc.integer({ min: 1, max: 120 });
const seldom = <VALUE>(value: fc.Arbitrary<VALUE>): fc.Arbitrary<VALUE | undefined> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, value);

const workers: fc.Arbitrary<WorkerPlan> = fc.record({
  startsAt: fc.oneof(fc.integer({ min: 0, max: 200 }), moments),
  skewMs: fc.constantFrom(0, 0, 300, -300, leaseMs * 0.45, leaseMs * -0.45),
  concurrency: fc.constantFrom(1, 2, 4),
  isOlder: fc.constantFrom(false, false, false, true),
  diesAt: fc.option(points, { nil: undefined, freq: 3 }),
  stopsAt: seldom(points),
  deafness: seldom(fc.record({ from: moments, ms: fc.integer({ min: 1, max: 2_000 }) })),
});

const threads: fc.Arbitrary<ThreadPlan> = fc.record({
  calls: fc.array(
    fc.tuple(
      fc.constantFrom('book', 'book', 'hold', 'look'),
      fc.constantFrom('Paris', 'Rome', 'Oslo'),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  answers: fc.array(fc.record({ at: moments, diesAt: seldom(fc.integer({ min: 1, max: 12 })) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

const fates: fc.Arbitrary<Fate> = fc.constantFrom(
  [1],
  [3],
  [8],
  [],
  [],
  [60],
  [400],
  [1, 90],
  [2, 2],
);

/** Schedules of one to four workers. */
export const claimSchedules: fc.Arbitrary<ClaimSchedule> = fc.record({
  workers: fc.array(workers, { minLength: 1, maxLength: 4 }),
  threads: fc.array(threads, { minLength: 1, maxLength: 5 }),
  firstId: fc.nat(1_000),
  fates: fc.array(fates, { maxLength: 60 }),
  keepsOrder: fc.boolean(),
  mutes: fc.array(fc.constantFrom(false, false, true), { maxLength: 12 }),
  delays: fc.array(fc.constantFrom(0, 1, 4, 20), { maxLength: 60 }),
  failures: fc.array(fc.constantFrom(undefined, undefined, undefined, 'before', 'after'), {
    maxLength: 12,
  }),
  labours: fc.array(fc.constantFrom(0, 40, 700, 1_400), { maxLength: 6 }),
  overloads: fc.array(fc.constantFrom(false, false, true), { maxLength: 6 }),
});
