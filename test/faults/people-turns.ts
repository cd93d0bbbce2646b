import * as fc from 'fast-check';
import { identities, personNames, toolNames } from './shared-people.ts';

const nth = fc.nat({ max: 12 });
const somebody = { person: fc.constantFrom(...personNames), form: nth };

/** True once in `times`. */
function onceIn(times: number): fc.Arbitrary<boolean> {
  return fc.nat({ max: times - 1 }).map((value) => value === 0);
}

/** What people do in turns. */
const moves = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant('say'),
      ...somebody,
      order: fc.constantFrom(undefined, ...toolNames, 'pay', 'post', 'post', 'post', 'trip'),
      next: fc.constantFrom(undefined, undefined, undefined, 'bonus', 'gift'),
      euros: fc.constantFrom(50, 50, 5_000),
      door: fc.constantFrom('plain', 'held', 'held', 'page', 'kept page', 'kept page', 'ag-ui'),
      nth,
      isFailing: onceIn(5),
      /** Whether somebody stops the run before its first word. */
      isStopped: onceIn(6),
      stopper: fc.record(somebody),
      interrupts: onceIn(8),
    }),
  },
  {
    weight: 18,
    arbitrary: fc.record({
      type: fc.constant('click'),
      ...somebody,
      nth,
      isYes: fc.nat({ max: 7 }).map((value) => value > 0),
      door: fc.constantFrom(
        'plain',
        'respond',
        'stale',
        'held',
        'held message',
        'page',
        'page',
        'ag-ui',
      ),
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
  {
    weight: 7,
    arbitrary: fc.record({
      type: fc.constant('resume'),
      ...somebody,
      door: fc.constantFrom(
        'plain',
        'page',
        'try again',
        'try again',
        'ag-ui',
        'held',
        'held',
        'stopped',
        'worker',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('look'),
      ...somebody,
      query: fc.constantFrom('', '&stream'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('hold'),
      ...somebody,
      door: fc.constantFrom('page', 'ag-ui'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('deliver'), ...somebody, nth }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('stop'),
      ...somebody,
      door: fc.constantFrom('plain', 'page'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel'), ...somebody }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('tab'),
      ...somebody,
      /** Who has signed in since the page was loaded. */
      other: fc.record(somebody),
      answers: fc.boolean(),
      nth,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('deploy'),
      identity: fc.nat({ max: identities.length - 1 }),
    }),
  },
);
export type Move = typeof moves extends fc.Arbitrary<infer MOVE> ? MOVE : never;
export type SayMove = Extract<Move, { type: 'say' }>;
export type ClickMove = Extract<Move, { type: 'click' }>;
export type TabMove = Extract<Move, { type: 'tab' }>;
export type ResumeMove = Extract<Move, { type: 'resume' }>;

/** What people do, one after the other. */
export const turns = fc.array(moves, { minLength: 1, maxLength: 50, size: 'max' });
