import * as fc from 'fast-check';
import { identities, personNames, toolNames } from './shared-people.ts';

const nth = fc.nat({ max: 12 });
const somebody = { person: fc.constantFrom(...personNames), form: nth };

/** What people do in turns. */
const moves = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('say'),
      ...somebody,
      order: fc.constantFrom(undefined, ...toolNames),
      euros: fc.constantFrom(50, 50, 5_000),
      door: fc.constantFrom('plain', 'held', 'held', 'page', 'kept page', 'kept page'),
      nth,
      isFailing: fc.integer({ min: 0, max: 4 }).map((value) => value === 0),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      type: fc.constant('click'),
      ...somebody,
      nth,
      isYes: fc.integer({ min: 0, max: 7 }).map((value) => value > 0),
      door: fc.constantFrom('plain', 'respond', 'stale', 'held', 'held message', 'page', 'page'),
      change: fc.constantFrom(
        undefined,
        undefined,
        undefined,
        'raised',
        'lowered',
        'null',
        'returned',
        'async',
      ),
      remember: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('withdraw'), ...somebody, nth }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('resume'), ...somebody }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('deploy'),
      identity: fc.nat({ max: identities.length - 1 }),
    }),
  },
);
export type Move = typeof moves extends fc.Arbitrary<infer MOVE> ? MOVE : never;
export type SayMove = Extract<Move, { type: 'say' }>;
export type ClickMove = Extract<Move, { type: 'click' }>;

/** What people do, one after the other. */
export const turns = fc.array(moves, { minLength: 1, maxLength: 50, size: 'max' });
