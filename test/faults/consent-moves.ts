import * as fc from 'fast-check';
import { people, stranger, teamNames, toolNames } from './consent-firm.ts';

/** The threads of the outermost agent. */
export const threadIds = ['one', 'two'] as const;
export type ThreadId = (typeof threadIds)[number];

const where = { process: fc.nat({ max: 1 }), threadId: fc.constantFrom('one', 'one', 'two') };
const person = fc.constantFrom(...people);
const anyone = fc.constantFrom(...people, ...people, ...people, stranger);
const somebodyOrNobody = fc.constantFrom(...people, ...people, undefined);
const nth = fc.nat({ max: 5 });
const process = fc.nat({ max: 1 });
const rarely = fc.integer({ min: 0, max: 5 }).map((value) => value === 5);
const often = fc.integer({ min: 0, max: 5 }).map((value) => value < 5);

export const say = fc.record({
  type: fc.constant('say'),
  ...where,
  person,
  /** What the agents call: each at its level, the outermost at 0, as deep as somebody is needed. */
  calls: fc.array(
    fc.record({
      toolName: fc.constantFrom(...toolNames),
      kind: fc.constantFrom('a', 'a', 'b'),
      level: fc.nat({ max: 2 }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  cancels: rarely,
});

/** What somebody does, or what happens. */
export const moves = fc.oneof(
  { weight: 6, arbitrary: say },
  {
    weight: 16,
    arbitrary: fc.record({
      type: fc.constant('answer'),
      process,
      nth,
      person: anyone,
      view: fc.constantFrom('fresh', 'fresh', 'fresh', 'stale'),
      isYes: often,
      /** What the answer says of the input that it is for. */
      names: fc.constantFrom('digest', 'digest', 'nothing', 'input'),
      edit: fc.constantFrom(undefined, undefined, undefined, 'amount', 'original'),
      remembers: rarely,
      runs: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('withdraw'), process, nth, person: anyone }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('reassign'),
      process,
      nth,
      person,
      to: fc.constantFrom(...people, ...people, ...teamNames, stranger),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('remember'), process, nth, person }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('join or leave'),
      team: fc.constantFrom('owners', 'owners', 'managers'),
      person,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('clock'), ms: fc.constantFrom(100_000, 300_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('cancel'), ...where, person: somebodyOrNobody }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('stop'), ...where, person: somebodyOrNobody }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('resume'), ...where, person: somebodyOrNobody }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('work'),
      ...where,
      /** Whether the process dies in the first call that it starts. */
      dies: rarely,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('settle'),
      process,
      nth,
      person: somebodyOrNobody,
      retries: often,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('deliver'), process, nth, person }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('revoke'), process, nth, person }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('link'),
      process,
      nth,
      person: anyone,
      /** The buttons that are pressed at once, each served by one of the processes. */
      presses: fc.array(fc.record({ process, isYes: often }), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('restore'), process, isElsewhere: fc.boolean() }),
  },
);
export type Move = typeof moves extends fc.Arbitrary<infer MOVE> ? MOVE : never;
export type MoveOf<TYPE extends Move['type']> = Extract<Move, { type: TYPE }>;
