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

type Pair = readonly [own: number | undefined, other: number | undefined];

/** Ratios of times in milliseconds, of one kind of cycles, and the times for the reader. */
export function compare(
  kind: 'first' | 'steady',
  pairs: readonly Pair[],
): Omit<SpeedRow, 'name' | 'said'> {
  const ratios = pairs.map(([own = Number.NaN, other = Number.NaN]) => own / other);
  const from = pairs
    .map(
      ([own = Number.NaN, other = Number.NaN]) =>
        `${milliseconds(own)} over ${milliseconds(other)}`,
    )
    .join(', ');
  return {
    first: kind === 'first' ? ratios : [],
    steady: kind === 'steady' ? ratios : [],
    from: `${from} ms`,
  };
}
