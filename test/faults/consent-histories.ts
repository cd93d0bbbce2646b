import * as fc from 'fast-check';
import { type Move, moves, say } from './consent-moves.ts';
import { schemes } from './consent-schemes.ts';

/** What happens at once, and how many beats each access to the store takes meanwhile. */
export interface Group {
  moves: Move[];
  beats: number[];
}

const beats = fc.array(fc.nat({ max: 5 }), { maxLength: 5 });
const single = moves.map((move): Group[] => [{ moves: [move], beats: [] }]);
const pair = fc
  .tuple(moves, moves, beats)
  .map(([one, other, taken]): Group[] => [{ moves: [one, other], beats: taken }]);
const scheme = schemes.map((steps) => steps.map((move): Group => ({ moves: [move], beats: [] })));

/** Histories of a firm: somebody asks for calls, and then people do whatever they can do, one or two at once, or a few things with a plan. */
export const histories = fc
  .tuple(
    say,
    fc.array(
      fc.oneof(
        { weight: 5, arbitrary: single },
        { weight: 1, arbitrary: pair },
        { weight: 1, arbitrary: scheme },
      ),
      { minLength: 4, maxLength: 30, size: 'max' },
    ),
  )
  .map(([first, others]): Group[] => [{ moves: [first], beats: [] }, ...others.flat()]);
