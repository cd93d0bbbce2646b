import { milliseconds } from '../table.ts';

/** A row of the table. Figures of one row stand beside each other, as its name says. */
export interface SpeedRow {
  name: string;
  /** Ratios of the first cycles of a process; none if the row has no such thing. */
  first: readonly number[];
  /** Ratios after thousands of cycles. */
  steady: readonly number[];
  /** What the last column says instead of ratios, such as a number of milliseconds. */
  said?: string;
  /** For the reader: what the ratios were made from. */
  from: string;
}

/** One figure over another, in milliseconds. */
export type Pair = readonly [own: number | undefined, other: number | undefined];

/** A row of ratios of times, and the steady times for the reader. */
export function makeRatioRow(
  name: string,
  { first = [], steady }: { first?: readonly Pair[]; steady: readonly Pair[] },
): SpeedRow {
  const from = steady.map(
    ([own = Number.NaN, other = Number.NaN]) => `${milliseconds(own)} over ${milliseconds(other)}`,
  );
  return {
    name,
    first: first.map(divide),
    steady: steady.map(divide),
    from: `${from.join(', ')} ms`,
  };
}

function divide([own = Number.NaN, other = Number.NaN]: Pair): number {
  return own / other;
}
