import * as fc from 'fast-check';
import { leaseMs, owners } from './scheduled-world.ts';
import type { PlannedCall } from './stateless-model.ts';
import { type Move, moves } from './thread-moves.ts';

/** Several processes that act on one thread, the order in which they do, and what the clock does meanwhile. */
export interface Interleaving {
  scheduler: fc.Scheduler;
  turns: readonly (readonly PlannedCall[])[];
  /** Whether a function takes the steps instead of a model, and asks about its plan. */
  isCustom: boolean;
  /** Whether the first message was sent, and its requests were shown, before anybody acts. */
  isOpened: boolean;
  actors: { skewMs: number; owner: string; moves: Move[] }[];
  /** Whether the nth request to the provider fails. */
  failures: boolean[];
  ticks: { ms: number; rings: boolean }[];
}

const calls: fc.Arbitrary<PlannedCall> = fc.tuple(
  fc.constantFrom('book', 'book', 'book', 'hold', 'hold', 'look'),
  fc.constantFrom('Paris', 'Rome', 'Oslo'),
);

/** What models call, for each message of a conversation. */
export const turnsOfCalls = fc.array(fc.array(calls, { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 4,
});

const ticks = fc.record({
  ms: fc.constantFrom(1_000, leaseMs / 3, leaseMs, leaseMs, leaseMs * 3, -leaseMs / 2),
  rings: fc.boolean(),
});

/** Conversations of two to four processes. */
export const interleavings: fc.Arbitrary<Interleaving> = fc.record({
  scheduler: fc.scheduler(),
  turns: turnsOfCalls,
  isCustom: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  isOpened: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  actors: fc.array(
    fc.record({
      skewMs: fc.constantFrom(0, 0, 500, -500, leaseMs * 2),
      owner: fc.constantFrom(owners[0], owners[0], owners[0], owners[1]),
      moves: fc.array(moves, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  failures: fc.array(fc.constantFrom(false, false, true), { maxLength: 6 }),
  ticks: fc.array(ticks, { maxLength: 4 }),
});
